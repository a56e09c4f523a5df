"""Frames as batches of pixels: tiles, colour spaces, scaling, the first frame, and statistics of segments."""
