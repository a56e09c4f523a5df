"""Masks of objects, frame by frame: evidence from segments, colours and motion decides about every pixel.

All of it works on a reduced picture of about `working_frame.PIXELS` pixels; `outline` enlarges the result.
"""
