"""Quality on real data, and memory over a long stream: what the parts are for, measured on the whole."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from helpers.paths import SAMPLES
from scstream import Gaussian, ScStream, VideoSegmenter, metrics


def read_video(path: Path) -> list[npt.NDArray[np.uint8]]:
    capture = cv2.VideoCapture(str(path))
    frames = []
    while (read := capture.read())[0]:
        frames.append(cv2.cvtColor(read[1], cv2.COLOR_BGR2RGB))
    return frames


def torso_of(mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """The part of a surfer's mask between shoulders and hips: no lines of the kite, no head, no legs."""
    size = np.ones((7, 7), np.uint8)
    _, label, stats, _ = cv2.connectedComponentsWithStats(cv2.erode(mask.astype(np.uint8), size))
    body = cv2.dilate((label == 1 + stats[1:, 4].argmax()).astype(np.uint8), size) > 0
    top, bottom = np.flatnonzero(body.any(axis=1))[[0, -1]]
    rows = np.arange(len(mask))[:, None]
    return body & mask & (rows > top + 0.25 * (bottom - top)) & (rows < top + 0.5 * (bottom - top))


def test_the_surfers_torso_keeps_one_id(shared_data: Path) -> None:
    folder = shared_data / "davis2016"
    images = sorted((folder / "JPEGImages/480p/kite-surf").glob("*.jpg"))
    masks = [cv2.imread(str(folder / f"Annotations/480p/kite-surf/{i.stem}.png"), 0) > 0 for i in images]
    segmenter = VideoSegmenter(seed=0)
    ids = [segmenter.segment(cv2.cvtColor(cv2.imread(str(i)), cv2.COLOR_BGR2RGB)) for i in images]
    main = metrics.dominant_id(ids, [torso_of(mask) for mask in masks])
    assert np.bincount(main).max() >= 45
    assert 30 <= segmenter.model_.n_clusters_ <= 120
    assert metrics.oracle_jaccard(ids, masks).mean() >= 0.68


@pytest.mark.parametrize(("follow", "ari", "full_nmi"), [("nothing", 0.8, 0.85), ("clusters", 0.87, 0.89)])
def test_drifting_gaussians_are_followed(follow: str, ari: float, full_nmi: float, shared_data: Path) -> None:
    with np.load(shared_data / "streams/gauss2d.npz") as stream:
        X, y = stream["X"], stream["y"]
    model = ScStream(Gaussian(m=np.zeros(2), nu=4.0, psi=0.5), alpha=1e4, decay=0.3, follow=follow, seed=0)
    predicted = [model.partial_fit(X[0]).labels_]
    for batch in X[1:]:
        predicted.append(model.predict(batch))
        model.partial_fit(batch)
    assert np.mean([metrics.ari(truth, labels) for truth, labels in zip(y, predicted, strict=True)]) >= ari
    assert metrics.full_nmi(y, predicted) >= full_nmi


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the resident set from /proc")
def test_memory_stays_flat() -> None:
    """Two thousand frames of a looping clip: after the first hundred the resident set grows by less than 5 %."""
    clip = [frame[::3, ::3].copy() for frame in read_video(SAMPLES / "crossing.mp4")]
    segmenter = VideoSegmenter(max_init_sweeps=40)
    early = 0
    for n in range(2000):
        segmenter.segment(clip[n % len(clip)])
        if n == 100:
            early = resident_bytes()
    assert resident_bytes() <= 1.05 * early


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()
