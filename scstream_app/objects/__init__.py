"""Objects: named sets of segments that the user edits frame by frame, and that follow the genealogy in between.

An object is a list of edits, each with its frame (`MarkedObject`, `ObjectEdit`). `Membership` computes which segments
every object has on each frame, from the edits and the events of the frames.
"""

from scstream_app.objects.edits import KINDS, ObjectEdit, mask_from_png, mask_size, mask_to_png
from scstream_app.objects.marked_object import Colour, MarkedObject
from scstream_app.objects.membership import Membership, members_by_frame

__all__ = [
    "KINDS",
    "Colour",
    "MarkedObject",
    "Membership",
    "ObjectEdit",
    "mask_from_png",
    "mask_size",
    "mask_to_png",
    "members_by_frame",
]
