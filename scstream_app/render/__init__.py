"""Rendering of segmentations: image types, colour palettes, views, and label images read from files."""
