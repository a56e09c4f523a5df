"""Open video files and network streams with FFmpeg, without letting them refer to other local files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from pathlib import Path
from threading import Event, Thread
from typing import Any

import av
from av.container import InputContainer
from av.stream import Disposition
from av.video.stream import VideoStream

from scstream_app.addresses import public_address
from scstream_app.errors import SourceError, reason

#: Seconds to wait for a network stream, to open it and for each further packet.
PATIENCE = 10.0
# Seconds between two checks for Ctrl-C while waiting.
_GLANCE = 0.05

SCHEMES = frozenset({"ftp", "http", "https", "rtmp", "rtmps", "rtp", "rtsp", "rtsps", "srt", "tcp", "udp"})
_PROTOCOLS = "crypto,ftp,http,httpproxy,https,rtmp,rtmpe,rtmps,rtmpt,rtmpts,rtp,srt,srtp,tcp,tls,udp"

# Formats of videos. All others are excluded: FFmpeg takes text for a video of a terminal, reads subtitles and
# sound, and some formats refer to other files, which a downloaded clip must not read.
_VIDEO_FORMATS = frozenset(
    "3g2 3gp apng asf av1 avi avs2 avs3 cavsvideo cine dhav dirac dnxhd dv evc film_cpk flic flv gif gxf h261 h263 "
    "h264 hevc ifv ipu ivf jpegxl_anim kux live_flv lmlm4 lxf m4v matroska mj2 mjpeg mjpeg_2000 mlv mov mp4 mpeg "
    "mpegts mpegvideo mpjpeg mtv mv mxf nsv nut nuv obu ogg pva r3d rm roq ser smjpeg smk swf ty v210 v210x vc1 "
    "vc1test vivo vvc webm wtv yuv4mpegpipe "
    # Single pictures, whatever the name of their file.
    "bmp_pipe dpx_pipe exr_pipe gif_pipe hdr_pipe j2k_pipe jpeg_pipe jpegls_pipe jpegxl_pipe pam_pipe pbm_pipe "
    "pcx_pipe pgm_pipe png_pipe ppm_pipe psd_pipe qoi_pipe sgi_pipe sunrast_pipe tiff_pipe webp_pipe".split()
)
# Formats of streams. Those that refer to other addresses are allowed, because a stream cannot reach local files.
_STREAM_FORMATS = _VIDEO_FORMATS | {"dash", "hls", "rtp", "rtsp", "sdp"}


def _available(formats: Iterable[str]) -> str:
    known = {name for names in av.formats_available for name in names.split(",")}
    return ",".join(sorted(known.intersection(formats)))


_LIST_STARTS = (b"#EXTM3U", b"ffconcat", b"v=0", b"[playlist]", b"[Reference]")
_GUESS_TIMES = 0x0001  # AVFMT_FLAG_GENPTS, which PyAV sets
# PyAV 19 accepts metadata in unknown encodings without being asked, and rejects the argument.
_METADATA: dict[str, Any] = {"metadata_errors": "replace"} if int(av.__version__.split(".")[0]) < 19 else {}
_HEAD = 2048
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def open_file(path: Path) -> InputContainer:
    """Open a local file; formats that refer to other files are rejected."""
    head = _check_file(path)
    options = {"protocol_whitelist": "file", "format_whitelist": _available(_VIDEO_FORMATS)}
    try:
        # "file:" keeps FFmpeg from parsing a protocol in a name such as concat:a.mp4.
        container = av.open(f"file:{path.absolute()}", "r", options=options, **_METADATA)
    except PermissionError as error:
        raise SourceError(f"Cannot open '{path}': {reason(error)}.") from error
    except av.error.ArgumentError as error:
        # Its format is not on the list.
        raise SourceError(f"Cannot open '{path}': it is not a video or an image.") from error
    except (av.error.FFmpegError, OSError, ValueError) as error:
        if _is_text(head):
            raise SourceError(f"Cannot open '{path}': it is a text file, not a video or an image.") from error
        raise SourceError(
            f"Cannot open '{path}': {reason(error)}. Is it a video? If so, re-encode it as H.264 MP4."
        ) from error
    return _without_guessed_times(container)


def _is_text(head: bytes) -> bool:
    """Whether a file begins with text."""
    # The last character may be cut.
    text = head[:-3] if len(head) == _HEAD else head
    try:
        return "\0" not in text.decode()
    except UnicodeDecodeError as error:
        return error.start > len(text) - 4


def _check_file(path: Path) -> bytes:
    """Return the beginning of a file.

    Raises `SourceError` if the path is obviously no video: missing, a folder, empty or a playlist.
    """
    try:
        if path.is_dir():
            raise SourceError(f"Cannot open '{path}': it is a folder, not a video.")
        if not path.exists():
            raise SourceError(f"Cannot open '{path}': there is no such file or folder.")
        if not path.is_file():
            raise SourceError(f"Cannot open '{path}': it is not a regular file.")
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError as error:
        raise SourceError(f"Cannot open '{path}': {reason(error)}.") from error
    if not head:
        raise SourceError(f"Cannot open '{path}': the file is empty.")
    start = head.removeprefix(_BYTE_ORDER_MARK).lstrip()
    if start.startswith(_LIST_STARTS) or (start.startswith(b"<") and b"<MPD" in start):
        raise SourceError(f"Cannot open '{path}': it is a playlist of other files. Open one of those instead.")
    return head


def open_url(url: str) -> InputContainer:
    """Open a network stream; it may refer to other addresses, but not to local files.

    Fails after 10 seconds if the server does not answer, and immediately on Ctrl-C.
    """
    formats = _available(_STREAM_FORMATS)
    options = {"protocol_whitelist": _PROTOCOLS, "format_whitelist": formats, "rtsp_flags": "prefer_tcp"}
    try:
        return _open_in_thread(lambda: av.open(url, "r", options=options, timeout=PATIENCE, **_METADATA))
    except av.error.ArgumentError as error:
        raise SourceError(f"Cannot open '{public_address(url)}': it is not a video.") from error
    except (av.error.FFmpegError, OSError, ValueError) as error:
        raise SourceError(f"Cannot open '{public_address(url)}': {network_reason(error)}.") from error


def open_pipe(pipe: Any, name: str | None, options: Mapping[str, str]) -> InputContainer:
    """Open a file object that cannot seek; ``name`` is its format, None if FFmpeg is to find out.

    Raises errors of FFmpeg, and ends at once on Ctrl-C.
    """
    given = dict(options)
    if name is None:
        given["format_whitelist"] = _available(_VIDEO_FORMATS)
    return _open_in_thread(lambda: av.open(pipe, "r", format=name, options=given, **_METADATA))


def _open_in_thread(opening: Callable[[], InputContainer]) -> InputContainer:
    """Call ``opening`` in a thread, because FFmpeg would block Ctrl-C.

    If the wait is interrupted, the thread closes the container when it gets it.
    """
    opened: Future[InputContainer] = Future()
    abandoned = Event()

    def work() -> None:
        try:
            container = opening()
        except BaseException as error:
            opened.set_exception(error)
            return
        opened.set_result(container)
        if abandoned.is_set():
            container.close()

    thread = Thread(target=work, name="scstream-opening", daemon=True)
    thread.start()
    try:
        while not opened.done():
            thread.join(_GLANCE)
    except BaseException:
        abandoned.set()
        raise
    return opened.result()


def network_reason(error: BaseException) -> str:
    """Short reason of an error; FFmpeg reports a timeout as ExitError."""
    if isinstance(error, av.error.ExitError):
        return f"no data received for {PATIENCE:.0f} seconds"
    return reason(error)


def video_stream(container: InputContainer, shown: str) -> VideoStream:
    """First video stream that is no cover picture and can be decoded."""
    streams = [s for s in container.streams.video if not s.disposition & Disposition.attached_pic]
    if not streams:
        raise SourceError(f"Cannot open '{shown}': it contains no video.")
    for stream in streams:
        # None if FFmpeg has no decoder, although the type annotations exclude that.
        if stream.codec_context is not None:
            return stream
    raise SourceError(f"Cannot open '{shown}': no decoder is available for it. Re-encode it as H.264 MP4.")


def _without_guessed_times(container: InputContainer) -> InputContainer:
    """Disable guessed presentation times: AVI stores none, and FFmpeg guesses wrong if the codec reorders frames."""
    if container.format.name == "avi":
        codecs = {s.codec_context.name for s in container.streams.video if s.codec_context is not None}
        if codecs & {"h264", "hevc"}:
            container.flags &= ~_GUESS_TIMES
    return container
