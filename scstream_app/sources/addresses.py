"""Addresses of sources for display: without passwords, or shortened."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit


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
    """Short address for lists: the name of the file or folder; for several images the first name and their number."""
    lines = address.splitlines()
    if len(lines) > 1:
        return f"{Path(lines[0]).name} and {len(lines) - 1} more"
    return Path(address).name or address
