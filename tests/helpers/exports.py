"""Export small results in one format, and make the disk full."""

import errno
import os

from scstream_app.export import ExportObject, Job
from scstream_app.export.exporter import open_writer

KITE = ExportObject("kite", frozenset({1}))


def full_disk(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def job_for(results, rate=25.0, **more):
    height, width = results[0].ids.shape
    return Job(width, height, rate, **more)


def export(folder, name, results, **more):
    with open_writer(folder, name, job_for(results, **more)) as writer:
        for one in results:
            writer.write(one)
    return writer.path


def needs(name):
    return {"objects": (KITE,)} if name in ("matte", "object") else {}
