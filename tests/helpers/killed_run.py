"""Runs that are killed: a server that forks one run after another, so that the engine is imported only once.

Each line on standard input is a folder: a fork records the test clip into it and prints a line after every frame. The
parent of the tests kills it when it likes. Between runs the server prints how the last one ended.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from helpers.session_clips import clip, recording

FRAMES, CUT, EVERY = 40, 23, 7


def main() -> None:
    """Serve until standard input ends."""
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            record(Path(line.strip()))
            os._exit(0)
        print(f"pid {child}", flush=True)
        print(f"ended {os.waitpid(child, 0)[1]}", flush=True)


def record(folder: Path) -> None:
    """Record the whole clip."""
    for _, result in recording(folder, clip(FRAMES, CUT), snapshot_every=EVERY):
        os.write(1, f"frame {result.index}\n".encode())


if __name__ == "__main__":
    main()
