"""Promises about the code itself: what an import pulls in and what the warm-up compiles."""

from __future__ import annotations

import re
import subprocess
import sys

from helpers.paths import ROOT


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)


def test_segmenting_pulls_in_no_window_no_codec_and_no_scikit_learn() -> None:
    code = (
        "import sys; sys.path.insert(0, 'engine'); import scstream; scstream.warm_up(); "
        "print(*sorted({name.split('.')[0] for name in sys.modules}))"
    )
    done = run(sys.executable, "-c", code)
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.split())
    assert {"scstream", "numba"} <= loaded
    assert not loaded & {"cv2", "PySide6", "av", "imageio", "pyqtgraph", "rich", "typer", "scstream_app", "sklearn"}


def test_after_the_warm_up_nothing_is_left_to_compile() -> None:
    # One process for all: most of its time goes to the warm-up.
    code = """if True:
        import sys
        sys.path.insert(0, "engine")
        import numpy as np
        from scstream import VideoSegmenter, kernels, warm_up

        files = [vars(file) for name, file in sys.modules.items() if name.startswith("scstream.kernels.")]

        def count():
            return {n: len(k.signatures) for f in files for n, k in f.items() if hasattr(k, "signatures")}

        warm_up()
        before = count()
        frame = np.random.default_rng(1).integers(0, 9, (120, 160, 3), np.uint8)
        frame[40:, 50:] += 90
        frame[:60, 100:] += 150
        for parameters in ({}, {"smoothing": 0.0}, {"steadiness": 0.0}, {"smoothing": 0.0, "steadiness": 0.0}):
            segmenter = VideoSegmenter(max_init_sweeps=60, **parameters)
            for n in range(4):
                segmenter.segment(np.roll(frame, n, axis=1))
            segmenter.uncertainty()
            segmenter.statistics_
            id = segmenter.model_.ids_[0]
            segmenter.split_mask(id)
            segmenter.split(id)
            segmenter.segment(frame)
            assert segmenter.model_.n_clusters_ > 2
            after = count()
            print(parameters, {n for n in after if after[n] != before[n]})
    """
    done = run(sys.executable, "-c", code)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 4
    assert [line for line in lines if not line.endswith("set()")] == []


def test_every_public_name_is_there() -> None:
    import scstream

    assert re.fullmatch(r"\d+\.\d+\.\d+.*", scstream.__version__)

    assert {"ScStream", "Gaussian", "DiagonalGaussian", "Multinomial", "VideoSegmenter"} <= set(scstream.__all__)
    for name in scstream.__all__:
        assert getattr(scstream, name).__doc__, name
