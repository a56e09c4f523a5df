"""Settings that all differ from the defaults."""

from __future__ import annotations

from typing import Any

OTHER: dict[str, Any] = {
    "colour": "lab", "scale": 0.5, "detail": 2.0, "alpha": 10.0, "decay": 1.5, "sweeps": 3, "seed": 7, "threads": 1,
    "scene_cuts": False, "burn_in": 2, "epsilon": 1e-4, "max_init_sweeps": 9, "split_last": False, "restart": None,
    "merge": "paper", "kernel": "rbf", "smoothing": 0.5, "steadiness": 2.0,
}  # fmt: skip
