"""Sessions: a run stored on disk as a folder NAME.scstream.

| file | content |
|---|---|
| manifest.json | source, settings, range of frames, whether the run is complete |
| ids.zarr | ids (frames, H, W) int32, one chunk per frame; -1 where a frame could not be read |
| frames.jsonl | one line per frame, written after all other data of the frame: a frame without a line does not count |
| statistics.bin | one record per frame and live segment; the manifest describes its layout |
| models/NNNNNN.npz | snapshot of the segmenter after frame NNNNNN |
| models/first.npz | the segmenter that the run started with, if it comes from another clip |
| masks.png | in older sessions: objects on the first frame, along which its segments were cut |
| objects.json | the user's objects: name, colour and edits of each; a painted mask is a PNG image as base64 text |
| object_masks/NNNNNN.mask | the objects of frame NNNNNN as tracked: confidences and a PNG image; may be missing |
| object_masks.new/ | masks that an export tracks for other objects, until it has all of them |
| prompts.json | corrections of objects on frames that are still to be segmented; may be missing |
| names.json | names, colours and visibility that the user gave to segments |
| merges.json | segments that the user merged in the result; other files stay as the run wrote them; may be missing |
| branch.json | if the run continues another one from a frame on: that run, the frame, the edits, and waiting marks |
| bookmark.json | where the user left the session: frame, view, selected segments |
| unsaved | empty marker file: the user has not saved this session yet, so it may be deleted |
| measured.jsonl | churn and uncertainty of frames, if they were computed after the run |
| pictures.mkv | the pictures of a recording: its frame i is frame i of the session |
| *.damaged | a file that could not be read, renamed |

The position of a frame in ids.zarr is its index minus the session's start.
"""

from scstream_app.objects import MarkedObject
from scstream_app.session.live_recorder import LiveRecorder, RecordingResult, repair_recording
from scstream_app.session.objects.object_tracking import ObjectResults
from scstream_app.session.resumption import Resumption, check_source, resume
from scstream_app.session.run_writer import with_inherited_births, write_run
from scstream_app.session.session import SUFFIX, Session
from scstream_app.session.storage.bookmark import Bookmark
from scstream_app.session.storage.manifest import FrameChecksum, Manifest, SourceFacts
from scstream_app.session.storage.marks import Names
from scstream_app.session.storage.new_folder import UNSAVED
from scstream_app.session.storage.pictures import PICTURES
from scstream_app.session.storage.records import FrameRecord

__all__ = [
    "PICTURES",
    "SUFFIX",
    "UNSAVED",
    "Bookmark",
    "FrameChecksum",
    "FrameRecord",
    "LiveRecorder",
    "Manifest",
    "MarkedObject",
    "Names",
    "ObjectResults",
    "RecordingResult",
    "Resumption",
    "Session",
    "SourceFacts",
    "check_source",
    "repair_recording",
    "resume",
    "with_inherited_births",
    "write_run",
]
