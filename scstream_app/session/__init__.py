"""What is on disk of a run: a folder NAME.scstream.

| file | what it holds |
|---|---|
| manifest.json | source, settings, range of frames, whether it is complete |
| ids.zarr | ids (frames, H, W) int32, one chunk a frame; -1 where a frame could not be read |
| frames.jsonl | one line a frame, written last: a frame is there when its line is |
| statistics.bin | one record per frame and live segment; the manifest describes it |
| models/NNNNNN.npz | the segmenter after frame NNNNNN |
| models/first.npz | the one that the run began with, if it was carried over from another clip |
| masks.png | things marked on the first frame before it was segmented, if there were any |
| objects.json, names.json | what a person marked, named, coloured or hid |
| bookmark.json | where a person left it: frame, view, selected segments |
| unsaved | empty; there until a person saves the session, which may be deleted before |
| measured.jsonl | churn and uncertainty of frames, where they were reckoned afterwards |
| pictures.mkv | of a recording, its pictures: frame i of it is frame i of the session |
| *.damaged | one of those that could not be read, put aside |

A frame's place in ids.zarr is its index minus the session's start.
"""

from scstream_app.session.live_recorder import LiveRecorder, Recorded, mend
from scstream_app.session.resumption import Resumption, check_source, resume
from scstream_app.session.run_writer import with_inherited_births, write_run
from scstream_app.session.session import SUFFIX, UNSAVED, Session
from scstream_app.session.storage.bookmark import Bookmark
from scstream_app.session.storage.manifest import FirstFrame, Manifest, SourceFacts
from scstream_app.session.storage.marks import MarkedObject, Names
from scstream_app.session.storage.pictures import PICTURES
from scstream_app.session.storage.records import FrameRecord

__all__ = [
    "PICTURES",
    "SUFFIX",
    "UNSAVED",
    "Bookmark",
    "FirstFrame",
    "FrameRecord",
    "LiveRecorder",
    "Manifest",
    "MarkedObject",
    "Names",
    "Recorded",
    "Resumption",
    "Session",
    "SourceFacts",
    "check_source",
    "mend",
    "resume",
    "with_inherited_births",
    "write_run",
]
