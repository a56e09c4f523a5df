"""Progress and summary of several clips: one display, one line for each clip that ends, one JSON object."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from scstream_app.addresses import public_address
from scstream_app.headless.many_clips import Clip, ClipProgress, ClipResult
from scstream_app.plural import counted
from scstream_app.terminal.console import print_message
from scstream_app.terminal.progress_display import ProgressDisplay


class ClipsProgress:
    """Follows several clips, and shows how far they are.

    Failures are printed also if ``quiet`` is set.
    """

    def __init__(self, clips: Sequence[Clip], display: ProgressDisplay, quiet: bool, debug: bool) -> None:
        self._clips, self._display, self._quiet, self._debug = clips, display, quiet, debug
        self._frames = [0] * len(clips)
        self.results: dict[int, ClipResult] = {}

    def begin(self) -> None:
        """Show the empty bar."""
        self._display.begin(self._text(), len(self._clips))

    def update(self, number: int, news: ClipProgress | ClipResult) -> None:
        """Show the progress or the end of a clip."""
        name = self._clips[number].name
        if isinstance(news, ClipProgress):
            self._frames[number] = news.frames
            self._display.show_part(name, news.step, news.frames, news.expected)
        else:
            self.results[number] = news
            self._display.end_part(name)
            if news.report is not None:
                self._frames[number] = news.report["frames_in_session"]
            self._print_end(name, news)
        self._display.update(len(self._ended()), self._text())

    def count(self, kind: str) -> int:
        """Number of clips that were "segmented" by this command, "skipped", "interrupted" or have "failed"."""
        return sum(_kind(result) == kind for result in self.results.values())

    def report(self, seconds: float) -> dict[str, Any]:
        """The JSON object that the command prints."""
        return {
            "clips": [self._clip_report(number) for number in range(len(self._clips))],
            "segmented": self.count("segmented"),
            "skipped": self.count("skipped"),
            "failed": self.count("failed"),
            "seconds": round(seconds, 3),
        }

    def summary(self, seconds: float) -> str:
        """The line that ends the command."""
        frames = sum(
            result.report["frames"] for result in self.results.values() if result.report and not result.skipped
        )
        parts = [f"{counted(self.count('segmented'), 'clip')} segmented"]
        parts += [f"{self.count(kind)} {kind}" for kind in ("skipped", "failed") if self.count(kind)]
        rate = f" ({frames / seconds:.1f} frames/s)" if frames and seconds > 0.0 else ""
        return f"{', '.join(parts)}; {counted(frames, 'frame')} in {seconds:.1f} s{rate}."

    def interruption(self) -> str:
        """The message after an interruption."""
        complete = self.count("segmented") + self.count("skipped")
        return (
            f"Interrupted: {complete} of {counted(len(self._clips), 'clip')} complete. "
            "The same command continues where it was interrupted."
        )

    def _ended(self) -> list[ClipResult]:
        return [result for result in self.results.values() if not result.interrupted]

    def _text(self) -> str:
        return f"Segmenting {counted(len(self._clips), 'clip')}, {counted(sum(self._frames), 'frame')}"

    def _print_end(self, name: str, result: ClipResult) -> None:
        place = f"[{len(self._ended())}/{len(self._clips)}] {name}"
        if result.error:
            self._print(f"{place}: failed: {result.error}", always=True)
            if self._debug and result.trace:
                sys.stderr.write(result.trace)
        elif result.report is not None:
            for notice in () if result.skipped else result.report["notices"]:
                self._print(f"{name}: {notice['text']}")
            self._print(f"{place}: {_line(result)}")

    def _print(self, text: str, always: bool = False) -> None:
        if not self._quiet:
            self._display.print(text)
        elif always:
            print_message(text)

    def _clip_report(self, number: int) -> dict[str, Any]:
        result = self.results[number]
        error = {"error": result.error} if result.error else {}
        return {
            "source": public_address(self._clips[number].address),
            "state": _kind(result),
            **(result.report or {}),
            **error,
        }


def _kind(result: ClipResult) -> str:
    if result.error:
        return "failed"
    if result.interrupted:
        return "interrupted"
    return "skipped" if result.skipped else "segmented"


def _line(result: ClipResult) -> str:
    report = result.report or {}
    frames, segments = counted(report["frames_in_session"], "frame"), counted(report["segments_last"], "segment")
    done = "complete before" if result.skipped else "done"
    return f"{done}, {frames}, {segments} at the end"
