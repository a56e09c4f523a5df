"""Writers of results, one format a module. Each writes a temporary sibling first and raises `ExportError`."""

from scstream_app.errors import ExportError
from scstream_app.export.ids import IdImages
from scstream_app.export.movie import Movie

__all__ = ["ExportError", "IdImages", "Movie"]
