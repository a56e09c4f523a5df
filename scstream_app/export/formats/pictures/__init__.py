"""Formats of the group "Pictures": one image per frame."""
