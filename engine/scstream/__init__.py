"""ScStream: clusters of a stream that keep their identity, by a streaming Dirichlet-process mixture sampler."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scstream.components import Component, DiagonalGaussian, Gaussian, Multinomial
    from scstream.mixture import Cluster, Mixture
    from scstream.model import ScStream
    from scstream.persistence import ModelFileError
    from scstream.sampler.genealogy import Event, Genealogy, TrackedObject
    from scstream.video import Preview, VideoSegmenter
    from scstream.warmup import warm_up

__all__ = [
    "Cluster",
    "Component",
    "DiagonalGaussian",
    "Event",
    "Gaussian",
    "Genealogy",
    "Mixture",
    "ModelFileError",
    "Multinomial",
    "Preview",
    "ScStream",
    "TrackedObject",
    "VideoSegmenter",
    "warm_up",
]

# Each is imported when it is first asked for: numba takes half a second and scikit-learn longer, which a window, or a
# command that only reads what was found earlier, need not wait for.
_HOME = {
    **dict.fromkeys(("Component", "DiagonalGaussian", "Gaussian", "Multinomial"), "components"),
    **dict.fromkeys(("Event", "Genealogy", "TrackedObject"), "sampler.genealogy"),
    **dict.fromkeys(("Cluster", "Mixture"), "mixture"),
    "ModelFileError": "persistence",
    "ScStream": "model",
    **dict.fromkeys(("Preview", "VideoSegmenter"), "video"),
    "warm_up": "warmup",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'scstream' has no attribute '{name}'")
    value = getattr(import_module(f"scstream.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
