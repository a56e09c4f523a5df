"""Addresses of sources: absolute, without secrets, or shortened for display."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: Prefix of the address of a clip that is played once as a camera, and of one that is repeated.
ONCE, REPEATED = "live:", "live-loop:"
#: Options of images at the end of an address, see `ImageOptions`.
_READING = re.compile(r"#(?:range|rate|plane)=[^#&\n]+(?:&(?:range|rate|plane)=[^#&\n]+)*$")
#: Prefix of the address of a camera.
CAMERA = "camera:"
#: Beginning of a camera, a stream or a URL. A single letter is a drive.
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
#: URL in a text. Quotation marks and white space end it.
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s'\"<>]+")
#: Names of parameters whose values are secret.
_SECRET = re.compile(
    r"tok|key|sig|sec|pass|pw|auth|cred|sess|sid|jwt|code|pin|hash|hmac|bearer|login|user|x-amz|x-goog|^s[eprv]$", re.I
)
#: Values of other parameters that are too short for a secret, such as the channel of a camera.
_PLAIN_VALUE = re.compile(r"[A-Za-z0-9._-]{0,8}")
#: A user name; a longer one may be a token.
_PLAIN_USER = re.compile(r"[\w.-]{1,20}")


def split_reading(address: str) -> tuple[str, str]:
    """An address without its options, and the options of images at its end.

    >>> split_reading("stack.tif#range=0:4095&rate=10"), split_reading("holiday #3.png")
    (('stack.tif', '#range=0:4095&rate=10'), ('holiday #3.png', ''))
    """
    match = None if "://" in address else _READING.search(address)
    return (address[: match.start()].rstrip("\n"), match[0]) if match else (address, "")


def join_reading(address: str, reading: str) -> str:
    """Inverse of `split_reading`; the options of several images are a line of their own.

    >>> join_reading("stack.tif", "#rate=10")
    'stack.tif#rate=10'
    """
    return f"{address}\n{reading}" if reading and "\n" in address else f"{address}{reading}"


def absolute_address(address: str) -> str:
    """Address that means the same from any working folder: paths and patterns become absolute.

    The file system is not accessed, so that a disk that hangs is not waited for.

    >>> absolute_address("camera:0"), absolute_address("http://a/b.mp4"), absolute_address("/clips/../a.mp4")
    ('camera:0', 'http://a/b.mp4', '/a.mp4')
    >>> absolute_address("live:/clips/../a.mp4")
    'live:/a.mp4'
    """
    for prefix in (ONCE, REPEATED):
        if address.startswith(prefix):
            return prefix + absolute_address(address.removeprefix(prefix).strip())
    plain, reading = split_reading(address)
    if reading:
        return join_reading(absolute_address(plain), reading)
    lines = address.splitlines()
    if len(lines) > 1:
        return "\n".join(map(absolute_address, filter(None, lines)))
    return address if _SCHEME.match(address) else os.path.abspath(os.path.expanduser(address))


def is_remote(address: str) -> bool:
    """Whether opening the address contacts another machine or switches a camera on.

    >>> is_remote("http://a/b.mp4"), is_remote("camera:0"), is_remote(r"live:\\\\server\\share\\a.mp4")
    (True, True, True)
    >>> is_remote("/clips/a.mp4"), is_remote("file:///clips/a.mp4")
    (False, False)
    """
    for prefix in (ONCE, REPEATED):
        if address.startswith(prefix):
            return is_remote(address.removeprefix(prefix).strip())
    if "\n" in address:
        return any(map(is_remote, address.splitlines()))
    # Windows asks the server for a path that begins like this, and logs in there.
    share = address.startswith(("\\\\", "//"))
    return share or address.startswith(CAMERA) or ("://" in address and not address.lower().startswith("file:///"))


def public_address(address: str) -> str:
    """Address of any source without passwords, keys and tokens, to be shown and stored; also if it is malformed.

    Of a URL, it keeps the user name and those parameters that cannot be secret: short values whose names do not suggest
    a secret. The source may not open without the others; then the user has to give the whole address again.

    >>> public_address("rtsp://me:sec@ret@10.0.0.7:554/door?channel=1&token=abc")
    'rtsp://me@10.0.0.7:554/door?channel=1'
    >>> public_address("live:https://host/clip.mp4?X-Amz-Signature=0123456789abcdef#part")
    'live:https://host/clip.mp4'
    """
    if "://" not in address:
        return address
    if "\n" in address:
        return "\n".join(map(public_address, address.splitlines()))
    for prefix in (ONCE, REPEATED):
        if address.startswith(prefix):
            return prefix + public_address(address.removeprefix(prefix).strip())
    try:
        parts = urlsplit(address)
    except ValueError:
        return re.sub("//.*@", "//", address).partition("?")[0]
    login, _, host = parts.netloc.rpartition("@")
    user = login.partition(":")[0]
    kept = [field for field in re.split("[&;]", parts.query) if _is_public(*field.partition("=")[::2])]
    shown = parts._replace(netloc=f"{user}@{host}" if _PLAIN_USER.fullmatch(user) else host, query="&".join(kept))
    return shown._replace(fragment="").geturl()


def _is_public(name: str, value: str) -> bool:
    return not _SECRET.search(unquote(name)) and _PLAIN_VALUE.fullmatch(value) is not None


def hide_secrets(text: str) -> str:
    """Text, such as a message of FFmpeg, in which every URL is replaced by its `public_address`.

    >>> hide_secrets("Cannot open 'http://me:secret@host/a.mp4?key=1': Forbidden")
    "Cannot open 'http://me@host/a.mp4': Forbidden"
    """
    return _URL.sub(lambda found: public_address(found[0]), text)


def short_name(address: str) -> str:
    """Short address for lists: the name of the file or folder; for several images the first name and their number.

    >>> short_name("/videos/dog.mp4"), short_name("live:/videos/dog.mp4")
    ('dog.mp4', 'dog.mp4 (as a camera)')
    """
    address, _ = split_reading(address)
    lines = address.splitlines()
    if len(lines) > 1:
        return f"{Path(lines[0]).name} and {len(lines) - 1} more"
    name = Path(address).name or address
    return f"{name} (as a camera)" if address.startswith((ONCE, REPEATED)) else name
