"""Forbid network sockets in this process: after `forbid_network()` it dies by SIGSYS when it opens one.

An audit hook of Python sees only Python's own sockets. FFmpeg and Qt open theirs in C, so on Linux the kernel watches.
"""

from __future__ import annotations

import ctypes
import platform
import socket
import struct
import sys

#: Numbers of the system call `socket`, by processor, and the processor's number in the kernel's header audit.h.
_CALLS = {"x86_64": (41, 0xC000003E), "aarch64": (198, 0xC00000B7)}
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _FILTER = 38, 22, 2
_KILL, _ALLOW = 0x80000000, 0x7FFF0000
#: Instructions of the kernel's packet filter: load a word, compare, return.
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
#: Offsets in seccomp_data: number of the call, processor, first argument.
_NUMBER, _PROCESSOR, _FIRST = 0, 4, 16

AVAILABLE = sys.platform == "linux" and platform.machine() in _CALLS
EVENTS = ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto")


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def forbid_sockets() -> None:
    """Have the kernel kill this process when it opens an internet socket, in whatever language."""
    number, processor = _CALLS[platform.machine()]
    steps = [
        (_LOAD, 0, 0, _PROCESSOR),
        (_EQUAL, 0, 6, processor),
        (_LOAD, 0, 0, _NUMBER),
        (_EQUAL, 0, 4, number),
        (_LOAD, 0, 0, _FIRST),
        (_EQUAL, 1, 0, socket.AF_INET),
        (_EQUAL, 0, 1, socket.AF_INET6),
        (_RETURN, 0, 0, _KILL),
        (_RETURN, 0, 0, _ALLOW),
    ]
    code = b"".join(struct.pack("HBBI", *step) for step in steps)
    library = ctypes.CDLL(None, use_errno=True)
    program = _Program(len(steps), code)
    if library.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or library.prctl(
        _PR_SET_SECCOMP, _FILTER, ctypes.byref(program)
    ):
        raise OSError(ctypes.get_errno(), "the kernel cannot watch sockets")


def forbid_python_sockets() -> None:
    """Raise when Python connects to anything but a file, or asks for the address of a host."""

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        if event in EVENTS and getattr(arguments[0], "family", None) != getattr(socket, "AF_UNIX", object()):
            raise AssertionError(f"{event}{arguments[1:]}")

    sys.addaudithook(watch)


def forbid_network() -> None:
    """Forbid network sockets for the rest of this process. Not on import: collecting tests imports this module."""
    forbid_python_sockets()
    if AVAILABLE:
        forbid_sockets()
