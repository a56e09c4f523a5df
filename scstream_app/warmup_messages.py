"""Messages shown in the window and the terminal while the engine is loaded and compiled."""

from __future__ import annotations

PREPARING = "Preparing the engine…"
#: Compilation takes 25 to 40 seconds; the result is cached on disk.
COMPILING = "Preparing the engine: compiling once, about half a minute…"
