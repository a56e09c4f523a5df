"""Quality on the sample clips and on real data, and memory over a long stream.

The thresholds are slightly below the worst of several seeds: a loss of quality fails, while another processor, which
draws other labels, passes.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from helpers.paths import SAMPLES
from scstream import Gaussian, ScStream, VideoSegmenter, metrics

pytestmark = pytest.mark.slow

BARE = {"smoothing": 0.0, "steadiness": 0.0}


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


@pytest.mark.parametrize(
    ("clip", "parameters", "oracle", "carried"),
    [
        ("crossing", BARE, 0.895, 0.84),
        ("kite_surf", BARE, 0.875, 0.85),
        ("lighting", BARE, 0.91, 0.89),
        ("crossing", {}, 0.855, 0.79),
        ("kite_surf", {}, 0.81, 0.665),
        ("lighting", {}, 0.895, 0.89),
    ],
)
def test_objects_of_the_sample_clips_are_found(
    clip: str, parameters: dict[str, float], oracle: float, carried: float
) -> None:
    """Mean J over the objects of a clip.

    Without smoothing and steadiness four seeds gave at least .907/.862, .886/.872 and .925/.907; with the defaults,
    .869/.813, .823/.687 and .909/.903.
    """
    frames = read_video(SAMPLES / f"{clip}.mp4")
    with np.load(SAMPLES / f"{clip}_ids.npz") as truth:
        true_ids, objects = truth["ids"], json.loads(str(truth["about"]))["objects"]
    segmenter = VideoSegmenter(seed=0, **parameters)
    ids, events = [], []
    for frame in frames:
        ids.append(segmenter.segment(frame))
        events.append(segmenter.events_)
    masks = {name: [np.isin(frame, parts) for frame in true_ids] for name, parts in objects.items()}
    assert np.mean([metrics.oracle_jaccard(ids, mask).mean() for mask in masks.values()]) >= oracle
    assert np.mean([metrics.carried_jaccard(ids, mask, events).mean() for mask in masks.values()]) >= carried


def test_the_surfers_torso_keeps_one_id(shared_data: Path) -> None:
    folder = shared_data / "davis2016"
    images = sorted((folder / "JPEGImages/480p/kite-surf").glob("*.jpg"))
    masks = [cv2.imread(str(folder / f"Annotations/480p/kite-surf/{i.stem}.png"), 0) > 0 for i in images]
    frames = [cv2.cvtColor(cv2.imread(str(image)), cv2.COLOR_BGR2RGB) for image in images]
    scores = []
    for seed in range(3):
        segmenter = VideoSegmenter(seed=seed)
        ids = [segmenter.segment(frame) for frame in frames]
        main = metrics.dominant_id(ids, [torso_of(mask) for mask in masks])
        assert np.bincount(main).max() >= 45
        assert 60 <= segmenter.model_.n_clusters_ <= 110
        scores.append(metrics.oracle_jaccard(ids, masks).mean())
    # These three seeds gave .669 in the mean; without smoothing and steadiness .746.
    assert np.mean(scores) >= 0.638


@pytest.mark.parametrize(("follow", "ari", "full_nmi"), [("nothing", 0.88, 0.885), ("clusters", 0.89, 0.885)])
def test_drifting_gaussians_are_followed(follow: str, ari: float, full_nmi: float, shared_data: Path) -> None:
    with np.load(shared_data / "streams/gauss2d.npz") as stream:
        X, y = stream["X"], stream["y"]
    scores = []
    for seed in range(3):
        model = ScStream(Gaussian(m=np.zeros(2), nu=4.0, psi=0.5), alpha=1e4, decay=0.3, follow=follow, seed=seed)
        predicted = [model.partial_fit(X[0]).labels_]
        for batch in X[1:]:
            predicted.append(model.predict(batch))
            model.partial_fit(batch)
        each = [metrics.ari(truth, labels) for truth, labels in zip(y, predicted, strict=True)]
        scores.append((np.mean(each), metrics.full_nmi(y, predicted)))
    # Five seeds gave .896 and .901 in the mean; with `follow` .907 and .907.
    assert np.all(np.mean(scores, axis=0) >= (ari, full_nmi))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the resident set from /proc")
def test_memory_stays_flat() -> None:
    """A thousand frames of a looping clip: after the first hundred the resident set grows by less than 3 %."""
    clip = [frame[::3, ::3].copy() for frame in read_video(SAMPLES / "crossing.mp4")]
    segmenter = VideoSegmenter(max_init_sweeps=40)
    early = 0
    for n in range(1000):
        segmenter.segment(clip[n % len(clip)])
        if n == 100:
            early = resident_bytes()
    assert resident_bytes() <= 1.03 * early


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()
