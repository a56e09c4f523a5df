"""Messages shown in the window and the terminal while the engine is loaded and compiled."""

from __future__ import annotations

PREPARING = "Preparing the engine…"
#: Compilation takes 40 to 110 seconds; the result is cached on disk.
COMPILING = "Preparing the engine: compiling once, a minute or two…"
