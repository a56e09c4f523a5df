"""The sample clips that are installed with the program, as image layers."""

from __future__ import annotations

from scstream_app.errors import SourceError
from scstream_app.napari_plugin.source_pictures import picture_stack
from scstream_app.napari_plugin.tracks import LayerData
from scstream_app.samples import SAMPLES
from scstream_app.sources import open_source


def kite_surf() -> list[LayerData]:
    """A surfer drifts over a moving sea."""
    return [_clip("kite_surf")]


def crossing() -> list[LayerData]:
    """Fish swim past and behind each other."""
    return [_clip("crossing")]


def _clip(name: str) -> LayerData:
    from napari.utils.notifications import show_warning

    source = open_source(str(SAMPLES / f"{name}.mp4"))
    length = source.count()
    if not length:
        raise SourceError(f"Cannot open '{source.name}': it has no frames.")
    stack = picture_stack(source, range(length), (source.height, source.width), show_warning)
    options = {"name": name, "rgb": True, "axis_labels": ("frame", "row", "column"), "metadata": {"rate": source.rate}}
    return stack, options, "image"
