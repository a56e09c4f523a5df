"""The base of worker threads: tasks in order, cancelled by their own event, and threads that end or are kept."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from scstream_app.errors import SessionError
from scstream_app.ui.qt.threads.background import BackgroundWorker
from scstream_app.ui.qt.threads.job_queue import JobQueue

LONG = 60_000


class Held(BackgroundWorker[str]):
    """Does a task when the gate opens, or not at all if it is cancelled."""

    def __init__(self) -> None:
        super().__init__("held", LONG)
        self.gate, self.begun = threading.Event(), threading.Semaphore(0)
        self.done: list[str] = []

    def add(self, task: str) -> None:
        self._add(task)

    def replace(self, task: str) -> None:
        self._replace(task)

    def _work(self, task: str, cancel: threading.Event) -> None:
        self.begun.release()
        assert self.gate.wait(LONG / 1000)
        if not cancel.is_set():
            self.done.append(task)


@pytest.fixture
def held(qapp: object) -> Iterator[Held]:
    held = Held()
    yield held
    held.gate.set()
    assert held.shut_down()


def test_tasks_are_done_in_order(held: Held) -> None:
    held.gate.set()
    for task in "abc":
        held.add(task)
    assert held.join(LONG / 1000)
    assert held.done == ["a", "b", "c"]
    assert not held.busy


def test_a_task_is_busy_from_the_moment_it_is_queued(held: Held) -> None:
    held.add("a")
    assert held.busy
    assert not held.join(0.01)
    held.gate.set()
    assert held.join(LONG / 1000)


def test_the_newest_task_replaces_those_before(held: Held) -> None:
    held.add("running")
    assert held.begun.acquire(timeout=LONG / 1000)
    held.add("queued")
    held.replace("newest")
    held.gate.set()
    assert held.join(LONG / 1000)
    assert held.done == ["newest"]


def test_cancelling_concerns_no_later_task(held: Held) -> None:
    held.add("a")
    held.cancel()
    assert held.cancelled
    held.add("b")
    assert not held.cancelled
    held.gate.set()
    assert held.join(LONG / 1000)
    assert held.done == ["b"]


def test_a_thread_that_hangs_is_given_up_and_may_end_later(held: Held) -> None:
    held.add("a")
    assert held.begun.acquire(timeout=LONG / 1000)
    assert not held.shut_down(10)
    held.gate.set()
    assert held.shut_down()
    assert held.done == []


def test_a_stopped_worker_starts_again_with_the_next_task_but_not_after_it_was_shut_down(held: Held) -> None:
    held.gate.set()
    held.add("a")
    assert held.join(LONG / 1000)
    assert held.stop()
    held.add("b")
    assert held.join(LONG / 1000)
    assert held.shut_down()
    held.add("c")
    assert not held.busy
    assert held.done == ["a", "b"]


def test_jobs_report_results_and_failures_on_the_windows_thread(qtbot: QtBot) -> None:
    jobs, reports = JobQueue(), list[tuple[object, bool]]()

    def fail() -> None:
        raise SessionError("Cannot write it.")

    def on_main_thread() -> bool:
        return threading.current_thread() is threading.main_thread()

    def report(result: object) -> None:
        reports.append((result, on_main_thread()))

    jobs.do(on_main_thread, report, what="Look")
    jobs.do(fail, None, report, what="Write")
    assert jobs.under_way == ("Look", "Write")
    qtbot.waitUntil(lambda: not jobs.under_way, timeout=LONG)
    assert reports == [(False, True), ("Cannot write it.", True)]
    jobs.shut_down()


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize(("wait", "expected"), [(True, [1, 2]), (False, [1])])
def test_a_job_queue_that_ends_waits_for_its_jobs_or_drops_queued_ones(wait: bool, expected: list[int]) -> None:
    jobs, begun, gate, done = JobQueue(), threading.Event(), threading.Event(), list[int]()

    def first() -> None:
        begun.set()
        assert gate.wait(LONG / 1000)
        done.append(1)

    jobs.do(first, what="First")
    jobs.do(lambda: done.append(2), what="Second")
    assert begun.wait(LONG / 1000)
    if wait:
        gate.set()
    jobs.shut_down(wait)
    gate.set()
    jobs.do(lambda: done.append(3), what="Third")
    jobs.shut_down()
    assert done == expected


def test_a_fault_in_a_job_is_reported_and_raised(qtbot: QtBot) -> None:
    jobs, reasons = JobQueue(), list[str]()
    with qtbot.captureExceptions() as raised:
        jobs.do(lambda: 1 // 0, failed=reasons.append, what="Dividing")
        qtbot.waitUntil(lambda: not jobs.under_way)
    jobs.shut_down()
    assert len(reasons) == 1
    assert reasons[0].startswith("ZeroDivisionError: ")
    assert [kind for kind, _, _ in raised] == [ZeroDivisionError]
