"""Formats of the group "Movies"."""
