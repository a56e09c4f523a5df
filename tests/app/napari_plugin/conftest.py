"""napari for the tests of the plugin, without the user's settings and without a window."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest


@pytest.fixture(scope="session", autouse=True)
def loaded() -> None:
    """Import napari once: its own warnings about other packages are not those of this program."""
    # Empty: napari neither reads nor writes a file of settings.
    os.environ["NAPARI_CONFIG"] = ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import_module("napari.qt.threading")
        from napari.settings import get_settings

        # The other one takes seconds to compile.
        get_settings().experimental.colormap_backend = "pure_python"


@pytest.fixture
def viewer(loaded: None) -> Any:
    """The layers, the slider and all else of a viewer but its window."""
    from napari.components import ViewerModel

    return ViewerModel()


@pytest.fixture
def messages(loaded: None) -> Iterator[list[str]]:
    """What napari has told the user in the test, in the order of the messages."""
    from napari.utils.notifications import notification_manager

    shown: list[str] = []

    def note(event: Any) -> None:
        shown.append(event.message)

    notification_manager.notification_ready.connect(note)
    yield shown
    notification_manager.notification_ready.disconnect(note)
