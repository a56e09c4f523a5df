"""Files and network streams opened with FFmpeg, which is kept from opening anything else on their behalf."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from threading import Event, Thread

import av
from av.container import InputContainer
from av.stream import Disposition
from av.video.stream import VideoStream

from scstream_app.errors import SourceError, reason
from scstream_app.sources.addresses import without_password

#: Seconds to wait for a network stream, to open it and for each further packet.
PATIENCE = 10.0
# Seconds after which a wait lets Ctrl-C through.
_GLANCE = 0.05

SCHEMES = frozenset({"ftp", "http", "https", "rtmp", "rtmps", "rtp", "rtsp", "rtsps", "srt", "tcp", "udp"})
_PROTOCOLS = "crypto,ftp,http,httpproxy,https,rtmp,rtmpe,rtmps,rtmpt,rtmpts,rtp,srt,srtp,tcp,tls,udp"

# Formats that are lists of other files: nobody who opens a downloaded clip expects it to read the rest of the disk.
_LISTS = frozenset({"concat", "dash", "hls", "image2", "imf", "lavfi", "rtsp", "sap", "sdp", "webm_dash_manifest"})
_FORMATS = ",".join(sorted({name for names in av.formats_available for name in names.split(",")} - _LISTS))
_LIST_STARTS = (b"#EXTM3U", b"ffconcat", b"v=0", b"[playlist]", b"[Reference]")
_MAKE_UP_TIMES = 0x0001  # AVFMT_FLAG_GENPTS, which PyAV sets
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def open_file(path: Path) -> InputContainer:
    """Open a local file; formats that would open others are refused."""
    _check_file(path)
    options = {"protocol_whitelist": "file", "format_whitelist": _FORMATS}
    try:
        # "file:" keeps FFmpeg from reading a protocol out of a name such as concat:a.mp4.
        container = av.open(f"file:{path.absolute()}", "r", options=options, metadata_errors="replace")
    except PermissionError as error:
        raise SourceError(f"Cannot open '{path}': {reason(error)}.") from error
    except (av.error.FFmpegError, OSError, ValueError) as error:
        raise SourceError(
            f"Cannot open '{path}': {reason(error)}. Is it a video? If so, re-encode it as H.264 MP4."
        ) from error
    return _honest(container)


def _check_file(path: Path) -> None:
    """Raise `SourceError` with the reason why this cannot be a video, if it is plain to see."""
    try:
        if path.is_dir():
            raise SourceError(f"Cannot open '{path}': it is a folder, not a video.")
        if not path.exists():
            raise SourceError(f"Cannot open '{path}': there is no such file or folder.")
        if not path.is_file():
            raise SourceError(f"Cannot open '{path}': it is no ordinary file.")
        with path.open("rb") as file:
            head = file.read(2048)
    except OSError as error:
        raise SourceError(f"Cannot open '{path}': {reason(error)}.") from error
    if not head:
        raise SourceError(f"Cannot open '{path}': the file is empty.")
    start = head.removeprefix(_BYTE_ORDER_MARK).lstrip()
    if start.startswith(_LIST_STARTS) or (start.startswith(b"<") and b"<MPD" in start):
        raise SourceError(f"Cannot open '{path}': it is a playlist, which refers to other files. Open those instead.")


def open_url(url: str) -> InputContainer:
    """Open a network stream; it may lead to other addresses, but not to files of this machine.

    A server that does not answer is given up after 10 seconds, and at once on Ctrl-C.
    """
    options = {"protocol_whitelist": _PROTOCOLS, "rtsp_flags": "prefer_tcp"}
    try:
        return _waited_for(lambda: av.open(url, "r", options=options, metadata_errors="replace", timeout=PATIENCE))
    except (av.error.FFmpegError, OSError, ValueError) as error:
        raise SourceError(f"Cannot open '{without_password(url)}': {network_reason(error)}.") from error


def _waited_for(opening: Callable[[], InputContainer]) -> InputContainer:
    """What is opened by a thread of its own: FFmpeg would keep Ctrl-C waiting. One that is abandoned closes it."""
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
    """The cause in a few words; FFmpeg calls running out of time an exit."""
    if isinstance(error, av.error.ExitError):
        return f"nothing came within {PATIENCE:.0f} seconds"
    return reason(error)


def video_stream(container: InputContainer, shown: str) -> VideoStream:
    """The stream to read: the first one that moves and can be decoded."""
    streams = [s for s in container.streams.video if not s.disposition & Disposition.attached_pic]
    if not streams:
        raise SourceError(f"Cannot open '{shown}': it holds no video.")
    for stream in streams:
        # None, whatever the types say, where FFmpeg has no decoder.
        if stream.codec_context is not None:
            return stream
    raise SourceError(f"Cannot open '{shown}': there is no decoder for it here. Re-encode it as H.264 MP4.")


def _honest(container: InputContainer) -> InputContainer:
    """AVI holds no presentation times; those that FFmpeg makes up are wrong where the codec reorders frames."""
    if container.format.name == "avi":
        codecs = {s.codec_context.name for s in container.streams.video if s.codec_context is not None}
        if codecs & {"h264", "hevc"}:
            container.flags &= ~_MAKE_UP_TIMES
    return container
