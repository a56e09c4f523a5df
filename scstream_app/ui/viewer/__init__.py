"""The picture: zoom and pan, overlays, hover information, the bar of live mode."""
