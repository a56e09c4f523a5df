"""The engine is loaded while the user chooses what to open."""

from __future__ import annotations

import logging
import threading

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

import scstream
from scstream_app.ui.window.startup.preloading import EnginePreloader


def test_the_engine_is_loaded_on_a_thread_of_its_own(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    loading, loaded = threading.Event(), threading.Event()

    def warm_up() -> None:
        loading.set()
        assert loaded.wait(60.0)

    monkeypatch.setattr(scstream, "warm_up", warm_up)
    preloader = EnginePreloader()
    assert not preloader.busy
    qtbot.waitUntil(loading.is_set)
    # The interface goes on meanwhile.
    assert preloader.busy
    loaded.set()
    qtbot.waitUntil(lambda: not preloader.busy)


def test_an_engine_that_cannot_be_loaded_is_no_fault_of_the_window(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def warm_up() -> None:
        raise OSError("no folder for the cache")

    monkeypatch.setattr(scstream, "warm_up", warm_up)
    parent = QObject()
    preloader = EnginePreloader(parent)
    with caplog.at_level(logging.ERROR):
        qtbot.waitUntil(lambda: bool(caplog.records))
    assert "no folder for the cache" in caplog.text
    qtbot.waitUntil(lambda: not preloader.busy)
