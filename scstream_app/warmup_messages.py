"""What is said while the engine is made ready, in the window and in the terminal."""

from __future__ import annotations

PREPARING = "Preparing the engine…"
#: 25 to 40 seconds; from then on it is on the disk.
COMPILING = "Preparing the engine: compiled the first time, for about half a minute…"
