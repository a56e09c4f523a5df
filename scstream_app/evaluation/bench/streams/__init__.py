"""Scores on streams of points, batch by batch."""
