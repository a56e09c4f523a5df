"""The panels of segments and of objects, each with the same short clip."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from helpers.segments_table import shown
from scstream_app.ui.document.document import Document
from scstream_app.ui.panels.objects import ObjectsPanel
from scstream_app.ui.panels.segments import SegmentsPanel


@pytest.fixture
def panel(story_document: Document, qtbot: QtBot) -> SegmentsPanel:
    """Segments of `story_document`; modules about another panel override it."""
    return shown(SegmentsPanel(story_document), qtbot)


@pytest.fixture
def objects(story_document: Document, qtbot: QtBot) -> ObjectsPanel:
    """Objects of `story_document`."""
    return shown(ObjectsPanel(story_document), qtbot)
