"""What every test may ask for."""

from __future__ import annotations

import faulthandler
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes says how busy the machine is.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


@pytest.fixture(scope="session", autouse=True)
def logs_apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Leave the user's log files alone, also in processes that tests start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real clips and streams, which is no part of the project."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("SCSTREAM_DATA", beside))
    if not folder.is_dir():
        pytest.skip("no real data: set SCSTREAM_DATA to its folder")
    return folder


def pytest_unconfigure() -> None:
    """A thread that keeps the process from ending is told of as well, and does not keep it for long."""
    faulthandler.dump_traceback_later(60.0, exit=True)
