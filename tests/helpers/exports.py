"""Export small results in one format, and simulate a full disk."""

import errno
import os
from dataclasses import fields

from scstream_app.export import ExportObject, ExportOptions, Job
from scstream_app.export.exporter import open_writer

KITE = ExportObject("kite", frozenset({1}))


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
        for one in results:
            writer.write(one)
    return writer.path


def needs(name):
    return {"objects": (KITE,)} if name in ("matte", "object") else {}
