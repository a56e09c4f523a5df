"""The compared methods on video. Each labels every pixel of a frame with an id that lasts from frame to frame."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scstream import Event, VideoSegmenter
from scstream_app.evaluation.bench.video import superpixels
from scstream_app.evaluation.bench.video.kmeans_forms import SAMPLE_PIXELS, Form, PixelKMeans, Pixels
from scstream_app.evaluation.bench.video.superpixels import OverlapIds
from scstream_app.render.image_types import Picture

Ids = npt.NDArray[np.int32]

#: Number of clusters that the methods that need it are given.
CLUSTERS = 80
#: Most iterations of a Gaussian mixture on the first frame, and on each later one, where it starts from the last.
_FIRST_ITERATIONS, _LATER_ITERATIONS = 100, 10


class Input(NamedTuple):
    """A frame as picture, and as points (N, 5) of colour and position for the methods that take these."""

    picture: Picture
    pixels: Pixels


@dataclass(frozen=True, slots=True)
class Setup:
    """What a method may know when it starts: ``segments`` is the number that ScStream finds in the first frame."""

    threads: int
    seed: int
    segments: int


class Running(NamedTuple):
    """A method on one clip: labels the next frame; ``events`` are those of the last frame, None if it has none."""

    step: Callable[[Input], Ids]
    events: Callable[[], Iterable[Event]] | None = None


@dataclass(frozen=True, slots=True)
class Method:
    """A compared method: how to start it, and why it cannot be used here (None if it can).

    One that takes seconds a frame is ``slow``.
    """

    name: str
    start: Callable[[Setup], Running]
    missing: Callable[[], str | None] = lambda: None
    slow: bool = False


def _scstream(**options: Any) -> Callable[[Setup], Running]:
    def start(setup: Setup) -> Running:
        segmenter = VideoSegmenter(seed=setup.seed, threads=setup.threads, **options)
        return Running(lambda frame: segmenter.segment(frame.picture), lambda: segmenter.events_)

    return start


def _kmeans(form: Form) -> Callable[[Setup], Running]:
    def start(setup: Setup) -> Running:
        model: PixelKMeans | None = None

        def step(frame: Input) -> Ids:
            nonlocal model
            if model is None:
                model = PixelKMeans(form, CLUSTERS, frame.pixels, setup.seed)
                return _as_map(model.labels, frame)
            return _as_map(model.step(frame.pixels), frame)

        return Running(step)

    return start


def _mixture(setup: Setup) -> Running:
    """BayesianGaussianMixture, fitted to a sample of each frame from where the last one ended; all pixels predicted."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import BayesianGaussianMixture

    model = BayesianGaussianMixture(
        n_components=CLUSTERS, warm_start=True, max_iter=_FIRST_ITERATIONS, random_state=setup.seed
    )
    rng = np.random.default_rng(setup.seed)

    def step(frame: Input) -> Ids:
        size = min(SAMPLE_PIXELS, len(frame.pixels))
        sample = frame.pixels[rng.choice(len(frame.pixels), size, replace=False)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(sample)
        model.max_iter = _LATER_ITERATIONS
        return _as_map(model.predict(frame.pixels), frame)

    return Running(step)


def _superpixels(make: Callable[[int, int], superpixels.Segmenter]) -> Callable[[Setup], Running]:
    def start(setup: Setup) -> Running:
        segment, ids = make(setup.segments, setup.threads), OverlapIds()
        return Running(lambda frame: ids.carry(segment(frame.picture)))

    return start


def _as_map(labels: npt.NDArray[Any], frame: Input) -> Ids:
    return np.asarray(labels, np.int32).reshape(frame.picture.shape[:2])


#: ScStream comes first: its first frame decides the number of superpixels.
METHODS = (
    Method("ScStream", _scstream()),
    Method("ScStream, bare model", _scstream(smoothing=0.0, steadiness=0.0)),
    *(Method(f"k-means: {form.value}", _kmeans(form)) for form in Form),
    Method("BayesianGaussianMixture", _mixture, slow=True),
    Method("SLIC, scikit-image", _superpixels(superpixels.skimage_slic), superpixels.missing_skimage),
    Method("SLIC, fast-slic", _superpixels(superpixels.fast_slic), superpixels.missing_fast_slic),
    Method("SLIC, OpenCV", _superpixels(superpixels.opencv_slic), superpixels.missing_ximgproc),
    Method("SEEDS, OpenCV", _superpixels(superpixels.opencv_seeds), superpixels.missing_ximgproc),
    Method("LSC, OpenCV", _superpixels(superpixels.opencv_lsc), superpixels.missing_ximgproc, slow=True),
)
