"""Export small results in one format, simulate a full disk, and add a module to the formats."""

import errno
import os
import sys
from contextlib import contextmanager
from dataclasses import fields, replace
from unittest.mock import patch

from scstream_app.export import FORMATS, ExportOptions, Job, formats, needs_object
from scstream_app.export.exporter import open_writer
from scstream_app.export.formats.registry import find_formats
from scstream_app.objects import MarkedObject, Membership, member_masks


def made_of(name, *ids, frame=0):
    """An object made of segments of one frame."""
    return MarkedObject.made(name, (0, 0, 0), frame, ids)


KITE = made_of("kite", 1)
#: A module with a new format: the number of segments on each frame.
COUNTS = """
from scstream_app.export.writer import ImageWriter

class _TextWriter(ImageWriter):
    suffix = ".txt"

    def _write(self, result):
        self._put(result, lambda: self._text(result).encode())

class Counts(_TextWriter):
    format = "counts"
    title = "Counts of segments"
    group = "Masks and ids"
    about = "The number of segments, as text"
    warning = "Counts: all shapes are lost."
    view = "boundaries"

    def _text(self, result):
        return str(len(set(result.ids.ravel().tolist())))
"""


def full_disk(*_, **__):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def make_job(width, height, rate=25.0, **more):
    """A job; options and facts of the clip are both keyword arguments."""
    options = {field.name: more.pop(field.name) for field in fields(ExportOptions) if field.name in more}
    return Job(width, height, rate, ExportOptions(**options), **more)


def job_for(results, rate=25.0, **more):
    height, width = results[0].ids.shape
    return make_job(width, height, rate, **more)


def export(folder, name, results, **more):
    with open_writer(folder, name, job_for(results, **more)) as writer:
        for one in with_masks(results, more.get("objects", ())):
            writer.write(one)
    return writer.path


def with_masks(results, objects):
    """Results with masks of the segments that the objects have, unless they have masks or there are no objects."""
    membership = Membership(objects)
    for one in results:
        members = membership.advance(one.index, one.events, one.cut)
        yield replace(one, objects=member_masks(one.ids, members)) if members and one.objects is None else one


def needs(name):
    return {"objects": (KITE,)} if needs_object(name) else {}


@contextmanager
def added_module(folder, text):
    """Add a module to the package of formats, and its formats to `FORMATS`."""
    name = f"{formats.__name__}.added"
    (folder / "added.py").write_text(text, encoding="utf-8")
    with patch.object(formats, "__path__", [*formats.__path__, str(folder)]):
        try:
            with patch.dict(FORMATS, find_formats(), clear=True):
                yield
        finally:
            del sys.modules[name]
            del formats.added
