"""Encodings of pictures, masks and outlines, which the formats share."""
