"""Addresses of sources: absolute, without passwords, or shortened for display."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import urlsplit

#: Prefix of the address of a clip that is played once as a camera, and of one that is repeated.
ONCE, REPEATED = "live:", "live-loop:"
#: Options of images at the end of an address, see `ImageOptions`.
_READING = re.compile(r"#(?:range|rate|plane)=[^#&\n]+(?:&(?:range|rate|plane)=[^#&\n]+)*$")
#: Beginning of a camera, a stream or a URL. A single letter is a drive.
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


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


def without_password(url: str, keep_user: bool = False) -> str:
    """URL without its password, for display and logs; with the user name if it will be opened again.

    >>> without_password("rtsp://me:secret@10.0.0.7:554/door?x=1")
    'rtsp://10.0.0.7:554/door?x=1'
    >>> without_password("rtsp://me:sec@ret@10.0.0.7/door", keep_user=True)
    'rtsp://me@10.0.0.7/door'
    """
    parts = urlsplit(url)
    login, _, host = parts.netloc.rpartition("@")
    user = login.partition(":")[0] if keep_user else ""
    return parts._replace(netloc=f"{user}@{host}" if user else host).geturl()


def public_address(address: str) -> str:
    """Address of any source without its password, also if it is malformed.

    >>> public_address("rtsp://me:secret@10.0.0.7/door")
    'rtsp://me@10.0.0.7/door'
    """
    if "://" not in address:
        return address
    try:
        return without_password(address, keep_user=True)
    except ValueError:
        return re.sub("//.*@", "//", address)


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
