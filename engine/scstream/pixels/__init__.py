"""Pixels as points: tiles, colour spaces, scaling, and statistics of segments."""
