"""Statistics: curves show the numbers of the summary, only visible parts are drawn, and a click goes to its frame."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPalette, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QGraphicsView, QLabel, QTabWidget
from pytestqt.qtbot import QtBot

from helpers.counting import Counter
from helpers.export_scenes import merge, split, story
from scstream_app.session import FrameRecord
from scstream_app.session.run_summary import Life, RunSummary
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.refresh_scheduler import PanelRefresh
from scstream_app.ui.panels.plots.lifetimes import longest_lives
from scstream_app.ui.panels.plots.min_max_pyramid import MinMaxPyramid
from scstream_app.ui.panels.plots.plot_helpers import ShortAxis
from scstream_app.ui.panels.statistics import StatisticsPanel


@pytest.fixture
def panel(story_document: Document, qtbot: QtBot) -> StatisticsPanel:
    made = StatisticsPanel(story_document)
    qtbot.addWidget(made)
    made.resize(700, 500)
    with qtbot.waitExposed(made):
        made.show()
    return made


def turn_to(panel: StatisticsPanel, title: str) -> None:
    tabs = panel.findChild(QTabWidget)
    tabs.setCurrentIndex([tabs.tabText(n) for n in range(tabs.count())].index(title))
    # A new page is laid out first, then its plot.
    for _ in range(3):
        QApplication.processEvents()


def click(qtbot: QtBot, plot: Any, x: float, y: float) -> None:
    """Click where the plot shows these coordinates."""
    view = plot.getViewWidget()
    place = view.mapFromScene(plot.getViewBox().mapViewToScene(QPointF(x, y)))
    qtbot.mouseMove(view.viewport(), place)
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(place))


def middle(plot: Any) -> float:
    return float(np.mean(plot.viewRange()[1]))


def record(index: int, milliseconds: dict[str, float], rows: int = 3, **measures: float) -> FrameRecord:
    return FrameRecord(index, index / 25, False, -100.0 + index, milliseconds, (), 0, 0, 0, rows, 0, measures=measures)


def test_a_frame_has_the_plots_painted_once(panel: StatisticsPanel, story_document: Document) -> None:
    # The panel's own refresh may come at any moment, and paint as well.
    panel.findChild(PanelRefresh).come.disconnect()
    paints = Counter(QEvent.Type.Paint, panel.time.curves["segments"].getViewWidget().viewport())
    before = paints.count
    # With it all axes get another range.
    story_document.summary.add(record(9, {"decode": 2.0, "engine": 900.0, "write": 4.0}, rows=70, churn=0.9))
    panel.time.refresh()
    assert paints.count == before + 1


def test_curves_hold_the_numbers_of_the_trace(panel: StatisticsPanel, story_document: Document, qtbot: QtBot) -> None:
    story_document.summary.add(
        record(5, {"decode": 2.0, "engine": 30.0, "write": 4.0}, rows=7, churn=0.25, uncertainty=0.1)
    )
    story_document.progressed.emit()
    curves = panel.time.curves
    qtbot.waitUntil(lambda: len(curves["segments"].getData()[0]) == 6)
    data = {name: curve.getData()[1] for name, curve in curves.items()}
    assert data["segments"].tolist() == [3, 3, 4, 4, 3, 7]
    assert data["churn"][-1] == 25.0
    assert data["uncertainty"][-1] == 10.0
    assert data["log_posterior"][-1] == -95.0
    # Stacked: each stage on those before it.
    assert [data[stage][-1] for stage in ("decode", "engine", "write")] == [2.0, 32.0, 36.0]
    assert panel.time.real_time.value() == 1000.0 / story_document.facts.rate


@pytest.mark.parametrize("name", ["segments", "milliseconds", "log_posterior", "churn", "uncertainty"])
def test_a_click_over_time_shows_that_frame(
    panel: StatisticsPanel, story_document: Document, qtbot: QtBot, name: str
) -> None:
    plot = panel.time.plots[name]
    click(qtbot, plot, 3.1, middle(plot))
    qtbot.waitUntil(lambda: story_document.display.index == 3)
    qtbot.waitUntil(lambda: panel.time.now[name].value() == 3)


def test_lives_are_bars_with_their_branches(panel: StatisticsPanel, story_document: Document, qtbot: QtBot) -> None:
    turn_to(panel, "Lifetimes")
    lives = panel.lives
    assert lives.ids == [0, 1, 3, 2]
    assert list(lives.bars.opts["x0"]) == [0, 0, 2, 0]
    assert list(lives.bars.opts["x1"]) == [5, 5, 5, 4]
    assert [values.tolist() for values in lives.branches.getData()] == [[2, 2], [1, 2]]
    assert [values.tolist() for values in lives.joins.getData()] == [[4, 4], [3, 0]]
    click(qtbot, lives.plot, 3.0, 2.0)
    assert story_document.display.selection == {3}


def test_a_click_on_a_colour_selects_its_segment(
    panel: StatisticsPanel, story_document: Document, qtbot: QtBot
) -> None:
    turn_to(panel, "Colours")
    rows = story_document.display.shown.result.statistics
    row = rows[rows["id"] == 1][0]
    click(qtbot, panel.colours.plot, float(row["red"]), float(row["green"]))
    assert story_document.display.selection == {1}
    x, _ = panel.colours.spots.getData()
    np.testing.assert_allclose(x, rows["red"])


def test_ellipses_have_two_standard_deviations(panel: StatisticsPanel, story_document: Document) -> None:
    turn_to(panel, "Colours")
    story_document.display.select([1])
    panel.colours.refresh()
    x, y = panel.colours.chosen.getData()
    rows = story_document.display.shown.result.statistics
    row = rows[rows["id"] == 1][0]
    inverse = np.linalg.inv(row["covariance"][:2, :2])
    away = np.stack([x - row["red"], y - row["green"]], axis=1)[:-1]
    np.testing.assert_allclose(np.sqrt(np.einsum("ni,ij,nj->n", away, inverse, away)), 2.0, rtol=1e-4)


def test_sizes_are_counted_by_doublings(panel: StatisticsPanel, story_document: Document) -> None:
    turn_to(panel, "Sizes")
    pixels = story_document.display.shown.result.statistics["pixels"]
    heights = panel.sizes.bars.opts["height"]
    assert heights.sum() == len(pixels)
    assert heights[int(np.log2(pixels.max()))] >= 1


def test_only_what_is_seen_is_drawn(story_document: Document, qtbot: QtBot) -> None:
    panel = StatisticsPanel(story_document)
    qtbot.addWidget(panel)
    assert not len(panel.time.curves["segments"].getData()[0])
    with qtbot.waitExposed(panel):
        panel.show()
    assert len(panel.time.curves["segments"].getData()[0]) == 5
    assert panel.lives.ids == []
    turn_to(panel, "Lifetimes")
    assert panel.lives.ids


def grow(document: Document, count: int, peak: int) -> None:
    """Add frames until there are so many; one of them has 99 segments."""
    for index in range(5, count):
        rows = 99 if index == peak else 3 + index % 50
        document.summary.add(record(index, {"decode": 2.0, "engine": 30.0}, rows=rows))


def test_long_runs_are_drawn_with_few_points_and_keep_their_peaks(
    panel: StatisticsPanel, story_document: Document, qtbot: QtBot
) -> None:
    grow(story_document, 100_000, peak=61_234)
    items = set(map(id, panel.time.plots["segments"].items))
    story_document.progressed.emit()
    curve = panel.time.curves["segments"]
    qtbot.waitUntil(lambda: curve.getData()[0][-1] > 99_000)
    frames, segments = curve.getData()
    assert len(frames) < 4_000
    assert (segments.min(), segments.max()) == (3, 99)
    assert frames[segments.argmax()] == pytest.approx(61_234, abs=100)
    assert set(map(id, panel.time.plots["segments"].items)) == items


def test_the_wheel_goes_closer_until_single_frames_are_seen_and_the_button_back(
    panel: StatisticsPanel, story_document: Document, qtbot: QtBot
) -> None:
    grow(story_document, 100_000, peak=61_234)
    panel.time.refresh()
    plot, curve = panel.time.plots["churn"], panel.time.curves["segments"]
    view = plot.getViewWidget()
    for _ in range(26):
        turn_wheel(view, view.mapFromScene(plot.getViewBox().mapViewToScene(QPointF(61_234, middle(plot)))))
    frames, segments = curve.getData()
    near = (frames > 61_230) & (frames < 61_239)
    assert frames[near].tolist() == list(range(61_231, 61_239))
    assert segments[near].tolist() == [99 if n == 61_234 else 3 + n % 50 for n in range(61_231, 61_239)]
    # Frames that come do not take the person away from there.
    story_document.summary.add(record(100_000, {}))
    panel.time.refresh()
    assert plot.viewRange()[0][1] < 62_000
    button = plot.autoBtn
    place = view.mapFromScene(button.mapToScene(button.boundingRect().center()))
    qtbot.mouseMove(view.viewport(), place)
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    left, right = plot.viewRange()[0]
    assert left < 5
    assert right >= 100_000


def test_the_wheel_can_be_turned_when_frames_were_just_forgotten(
    panel: StatisticsPanel, story_document: Document
) -> None:
    grow(story_document, 6_600, peak=7)
    panel.time.refresh()
    plot, curve = panel.time.plots["segments"], panel.time.curves["segments"]
    view = plot.getViewWidget()
    story_document.summary.forget_before(600)
    # Before a refresh has heard of it.
    turn_wheel(view, view.mapFromScene(plot.getViewBox().mapViewToScene(QPointF(6_500, middle(plot)))))
    left, _ = plot.viewRange()[0]
    assert left > 0
    panel.time.refresh()
    assert curve.getData()[0][0] >= 600


def turn_wheel(view: Any, place: QPoint) -> None:
    """One notch towards the picture."""
    where = QPointF(place)
    event = QWheelEvent(
        where,
        QPointF(view.viewport().mapToGlobal(place)),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(view.viewport(), event)


def test_a_refresh_reads_only_what_is_new(
    panel: StatisticsPanel, story_document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    grow(story_document, 20_000, peak=7)
    panel.time.refresh()
    summary, read = story_document.summary, list[int]()
    between = summary.between

    def spy(name: str, start: int, stop: int) -> Any:
        values = between(name, start, stop)
        read.append(len(values))
        return values

    monkeypatch.setattr(summary, "between", spy)
    summary.add(record(20_000, {"engine": 30.0}, rows=77))
    summary.fill(12_345, {"churn": 0.5})
    panel.time.refresh()
    assert max(read) == 1
    assert 50.0 in panel.time.curves["churn"].getData()[1]


def test_pyramids_tell_least_and_greatest_of_any_part() -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(size=30_000)
    values[100:9_000] = np.nan
    row = MinMaxPyramid()
    for start in range(0, len(values), 777):
        row.put(start, values[start : start + 777])
    # Known later.
    values[5_000:5_010] = 9.0
    row.put(5_000, values[5_000:5_010])
    for start, stop, most in ((0, 30_000, 100), (4_999, 5_011, 100), (12_345, 29_999, 500), (0, 30_000, 50_000)):
        places, found = row.part(start, stop, most)
        assert len(places) == len(found) <= min(2 * (most + 2), 2 * (stop - start))
        assert places[0] <= start
        size = 1 if most >= stop - start else int(np.diff(np.unique(places)).min())
        part = values[start - start % size : -(-stop // size) * size]
        assert np.nanmin(found) == np.nanmin(part)
        assert np.nanmax(found) == np.nanmax(part)


def test_the_most_important_lives_and_those_asked_for() -> None:
    summary = RunSummary()
    for index in range(100):
        summary.add(record(index, {}))
    for id in range(90):
        summary.lives[id] = Life(id, 0, died=id + 1)
    summary.lives[200] = Life(200, 50, parent=89)
    summary.lives[201] = Life(201, 50, died=50)
    chosen = [life.id for life in longest_lives(summary, 60, always=[0])]
    assert len(chosen) == 60
    assert 0 in chosen
    assert chosen.index(200) == chosen.index(89) + 1
    assert 201 not in [life.id for life in longest_lives(summary, 1000)]


def test_plots_follow_the_palette(panel: StatisticsPanel) -> None:
    before = QApplication.palette()
    dark = QPalette(before)
    dark.setColor(QPalette.ColorRole.Base, QColor(10, 20, 30))
    try:
        QApplication.setPalette(dark)
        QApplication.processEvents()
        picture = panel.time.grab().toImage()
        assert picture.pixelColor(3, 3) == QColor(10, 20, 30)
    finally:
        QApplication.setPalette(before)


def test_labels_of_lives_do_not_overlap(panel: StatisticsPanel, story_document: Document, qtbot: QtBot) -> None:
    for id in range(10, 60):
        story_document.summary.lives[id] = Life(id, 0)
    panel.resize(400, 260)
    turn_to(panel, "Lifetimes")
    story_document.display.select([31, 32, 33])
    axis = panel.lives.plot.getAxis("left")

    def labels() -> dict[str, tuple[float, float]]:
        """Upper and lower end of each label in pixels."""
        picture = QImage(400, 260, QImage.Format.Format_RGB32)
        with QPainter(picture) as painter:
            return {text: (box.top(), box.bottom()) for box, _, text in axis.generateDrawSpecs(painter)[2]}

    qtbot.waitUntil(lambda: "segment 31" in labels())
    ends = sorted(labels().values())
    assert len(ends) > 4
    assert all(below <= above for (_, below), (above, _) in pairwise(ends))


def test_events_reach_the_lives(story_document: Document) -> None:
    # What the story tells, for the tests above.
    told = [(event.kind, event.ids) for _, event in story_document.summary.events]
    assert told == [(event.kind, event.ids) for event in (split(2, 1, 3), merge(4, 0, 2))]


# --- events


def test_events_are_listed_with_their_ratios_and_one_click_away(
    panel: StatisticsPanel, story_document: Document, qtbot: QtBot
) -> None:
    panel.events.refresh()
    model, table = panel.events.model, panel.events.table
    rows = [[model.index(row, column).data() for column in range(3)] for row in range(model.rowCount())]
    assert rows == [["2", "Segment 1 splits: 3 is new", "+5.0"], ["4", "Segment 2 merges into 0", rows[1][2]]]
    panel.findChild(QTabWidget).setCurrentWidget(panel.events)
    place = table.visualRect(model.index(1, 1)).center()
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    qtbot.waitUntil(lambda: story_document.display.index == 4)
    assert story_document.display.selection == {0, 2}


@pytest.mark.parametrize("page", ["time", "lives"])
def test_frame_numbers_are_whole_however_far_one_zooms(panel: StatisticsPanel, page: str) -> None:
    """Both plots over frames count in frames, and have no ticks between them."""
    turn_to(panel, {"time": "Over time", "lives": "Lifetimes"}[page])
    plot = panel.lives.plot if page == "lives" else panel.time.plots["uncertainty"]
    # The panel's own refresh may come at any moment, and show the whole run again.
    panel.findChild(PanelRefresh).come.disconnect()
    plot.setXRange(1.2, 3.1, padding=0.0)
    axis = plot.getAxis("bottom")
    QApplication.processEvents()
    assert axis.labelText == "frame"
    (spacing, values), *_ = axis.tickValues(*plot.viewRange()[0], plot.getViewBox().width())
    assert spacing == 1.0
    assert axis.tickStrings(values, 1.0, spacing) == ["2", "3"]


def test_the_numbers_of_an_axis_have_one_unit() -> None:
    axis = ShortAxis("left")
    assert axis.tickStrings([8e5, 1e6, 1.2e6], 1.0, 2e5) == ["0.8M", "1.0M", "1.2M"]
    assert axis.tickStrings([0.0, 5e3, 1e4], 1.0, 5e3) == ["0", "5k", "10k"]
    assert axis.tickStrings([0.0, 0.5, 1.0], 1.0, 0.5) == ["0", "0.5", "1.0"]


def test_events_of_one_kind(panel: StatisticsPanel, story_document: Document) -> None:
    panel.events.refresh()
    kinds = panel.events.findChild(QComboBox)
    QTest.keyClicks(kinds, "Merges")
    model = panel.events.model
    assert [model.index(row, 0).data() for row in range(model.rowCount())] == ["4"]


def test_new_events_are_appended_and_forgotten_ones_go(panel: StatisticsPanel, story_document: Document) -> None:
    panel.events.refresh()
    summary, model = story_document.summary, panel.events.model
    summary.events.append(5, summary.events[0][1])
    panel.events.refresh()
    assert model.rowCount() == 3
    summary.forget_before(4)
    # As a view may ask before it hears of it.
    assert [model.index(row, 0).data() for row in range(model.rowCount())] == [None, "4", "5"]
    panel.events.refresh()
    assert [model.index(row, 0).data() for row in range(model.rowCount())] == ["4", "5"]


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("Over time", "from the first segmented frame on"),
        ("Lifetimes", "from the first segmented frame on"),
        ("Events", "No events yet"),
        ("Sizes", "when it has been segmented"),
        ("Colours", "when it has been segmented"),
    ],
)
def test_where_there_is_nothing_yet_words_say_what_will_be_there(
    document: Document, qtbot: QtBot, title: str, words: str
) -> None:
    panel = StatisticsPanel(document)
    qtbot.addWidget(panel)
    panel.show()
    turn_to(panel, title)
    seen = [label.text() for label in panel.findChildren(QLabel) if label.isVisible()]
    assert len(seen) == 1
    assert words in seen[0]
    assert not any(view.isVisible() for view in panel.findChildren(QGraphicsView))


def test_another_clip_begins_with_axes_of_its_own(
    panel: StatisticsPanel, story_document: Document, qtbot: QtBot, finished_session: Callable[..., Path]
) -> None:
    """Wherever somebody looked in the clip before."""
    grow(story_document, 3_000, peak=7)
    panel.time.refresh()
    time, lives, colours = panel.time.plots["segments"], panel.lives.plot, panel.colours.plot
    for title, plot in (("Colours", colours), ("Lifetimes", lives), ("Over time", time)):
        turn_to(panel, title)
        view = plot.getViewWidget()
        for _ in range(3):
            turn_wheel(view, view.mapFromScene(plot.getViewBox().sceneBoundingRect().center()))
    assert time.viewRange()[0][0] > 100
    with qtbot.waitSignal(story_document.display.shown_changed):
        story_document.open_session(finished_session(story((48, 64))))
    qtbot.waitUntil(lambda: time.viewRange()[0][1] < 6)
    assert time.viewRange()[0][0] > -1
    for title, plot in (("Lifetimes", lives), ("Colours", colours)):
        turn_to(panel, title)
        qtbot.waitUntil(lambda plot=plot: plot.getViewBox().autoRangeEnabled() == [True, True])


def test_values_of_the_frame_at_hand_stand_beside_the_curves(
    panel: StatisticsPanel, story_document: Document, qtbot: QtBot
) -> None:
    titles = panel.time.titles
    story_document.display.show(2)
    qtbot.waitUntil(lambda: titles["segments"].item.toPlainText() == "segments\n4")
    # Nothing lies over the curves.
    for name, plot in panel.time.plots.items():
        assert not titles[name].sceneBoundingRect().intersects(plot.getViewBox().sceneBoundingRect())
    assert titles["frame"].item.toPlainText() == "frame 2"
