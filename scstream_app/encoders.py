"""Video streams of movie files, encoded by FFmpeg."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from av.codec.codec import UnknownCodecError
from av.container import OutputContainer
from av.video.stream import VideoStream


class MissingEncoderError(ValueError):
    """FFmpeg was built without the encoder."""


def add_video_stream(container: OutputContainer, encoder: str, rate: float, options: Mapping[str, str]) -> VideoStream:
    """Add a video stream to a movie; raises MissingEncoderError if there is no such encoder.

    Parameters
    ----------
    container : OutputContainer
    encoder : str
        FFmpeg's name of the encoder.
    rate : float
        Frames per second.
    options : mapping
        Options of the encoder.
    """
    try:
        stream = container.add_stream(encoder, rate=Fraction(rate).limit_denominator(65_535), options=dict(options))
    except UnknownCodecError as error:
        # PyAV says no more than the encoder's name.
        raise MissingEncoderError(f"this build of FFmpeg has no encoder '{encoder}'") from error
    assert isinstance(stream, VideoStream)
    return stream
