"""A folder for one case at a time, a watch over files written elsewhere, and processes that are killed or limited."""

from __future__ import annotations

import ctypes
import os
import resource
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
#: Events of the interpreter that change a path, and the positions of the paths among their arguments.
_CHANGES = {
    "os.mkdir": (0,), "os.rename": (0, 1), "os.remove": (0,), "os.rmdir": (0,), "os.link": (1,), "os.symlink": (1,),
    "os.truncate": (0,), "os.utime": (0,), "os.chmod": (0,), "shutil.rmtree": (0,),
}  # fmt: skip
#: Folders that any program may write to: devices, and caches of compiled code.
_ANYWHERE = ("/dev/", "/proc/")
_CACHES = ("__pycache__", ".nbi", ".nbc", ".pyc")
#: From the system's header sys/prctl.h.
_PR_SET_PDEATHSIG = 1


class Sandbox:
    """The folder of a worker process.

    ``folder`` is empty at the beginning of each case, and the current folder. Files of the user, such as the log,
    belong into ``home``. ``bait`` is a file that nothing may change.
    """

    def __init__(self, folder: Path) -> None:
        self.root = folder.resolve()
        self.folder, self.home, self.bait = self.root / "case", self.root / "home", self.root / "bait"
        self._strays: set[str] = set()
        shutil.rmtree(self.root, ignore_errors=True)
        self.home.mkdir(parents=True)
        self.bait.write_bytes(_BAIT)
        self._watching = False
        _use_home(self.home)
        sys.addaudithook(self._watch)

    @contextmanager
    def empty(self) -> Iterator[Path]:
        """Make the folder, and remove it afterwards."""
        self.folder.mkdir()
        os.chdir(self.folder)
        self._watching = True
        try:
            yield self.folder
        finally:
            self._watching = False
            os.chdir(self.root)
            shutil.rmtree(self.folder, ignore_errors=True)

    def strays(self) -> list[str]:
        """Paths that were written outside the folder since the last call."""
        found = sorted(self._strays)
        self._strays.clear()
        found += sorted(str(path) for path in self.root.iterdir() if path.name not in ("case", "home", "bait", "tmp"))
        if self.bait.read_bytes() != _BAIT:
            found.append(str(self.bait))
            self.bait.write_bytes(_BAIT)
        return found

    def _watch(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._watching:
            return
        if event == "open":
            path, _, flags = arguments
            if isinstance(flags, int) and flags & _WRITING and isinstance(path, str | bytes | os.PathLike):
                self._note(path)
        elif event in _CHANGES:
            for place in _CHANGES[event]:
                if isinstance(arguments[place], str | bytes | os.PathLike):
                    self._note(arguments[place])

    def _note(self, path: str | bytes | os.PathLike[Any]) -> None:
        text = os.path.realpath(os.fsdecode(path))
        if text.startswith((*_ANYWHERE, *(f"{one}" for one in (self.folder, self.home, self.root / "tmp")))):
            return
        if not any(part in text for part in _CACHES):
            self._strays.add(text)


_BAIT = b"nothing may change this file\n" * 40


def _use_home(home: Path) -> None:
    """Keep everything that belongs to the user inside ``home``."""
    (home.parent / "tmp").mkdir(exist_ok=True)
    os.environ |= {
        "HOME": str(home),
        "TMPDIR": str(home.parent / "tmp"),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_CONFIG_HOME": str(home / "config"),
    }


# --- processes


def end_with_parent() -> None:
    """Have the system kill this process when the process that forked it ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def forked(
    function: Callable[[], int],
    output: Path,
    *,
    kill_after: float | None = None,
    limits: Mapping[int, int] | None = None,
    patience: float = 60.0,
) -> int:
    """Run a function in a forked process; returns its exit code, or minus the signal that ended it.

    Parameters
    ----------
    output : Path
        File that receives what the process prints.
    kill_after : float, optional
        Seconds after which the process is killed with SIGKILL.
    limits : mapping, optional
        Limits of `resource.setrlimit`.
    patience : float
        Seconds after which the process is killed and TimeoutError raised.
    """
    child = os.fork()
    if child == 0:
        _become(function, output, limits or {})
    begin = monotonic()
    if kill_after is not None:
        sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if monotonic() - begin > patience:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise TimeoutError(f"still running after {patience:.0f} s: {output.read_text()[-500:]}")
        sleep(0.002)


def _become(function: Callable[[], int], output: Path, limits: Mapping[int, int]) -> None:
    """Turn this process into one that runs the function and ends."""
    code = 99
    end_with_parent()
    try:
        descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        os.dup2(descriptor, 1)
        os.dup2(descriptor, 2)
        os.close(descriptor)
        for name, value in limits.items():
            resource.setrlimit(name, (value, resource.getrlimit(name)[1]))
        code = function()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(code)
