"""What every test may ask for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real clips and streams, which is no part of the project."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("SCSTREAM_DATA", beside))
    if not folder.is_dir():
        pytest.skip("no real data: set SCSTREAM_DATA to its folder")
    return folder
