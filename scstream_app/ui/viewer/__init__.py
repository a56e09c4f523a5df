"""Viewer of the current frame: zoom and pan, overlays, hover information, live mode bar."""
