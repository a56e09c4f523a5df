"""Objects: things that the user marks and corrects on some frames, and that are tracked in between.

An object is a list of edits, each with its frame (`MarkedObject`, `ObjectEdit`). `tracker.ObjectTracker` computes the
masks of all objects from the edits, the segments and the pictures; `Membership` computes which segments they have, from
the edits and the events alone.
"""

from scstream_app.objects.edits import KINDS, ObjectEdit, mask_from_png, mask_size, mask_to_png
from scstream_app.objects.marked_object import Colour, MarkedObject
from scstream_app.objects.membership import Membership, member_masks, members_by_frame

__all__ = [
    "KINDS",
    "Colour",
    "MarkedObject",
    "Membership",
    "ObjectEdit",
    "mask_from_png",
    "mask_size",
    "mask_to_png",
    "member_masks",
    "members_by_frame",
]
