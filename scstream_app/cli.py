"""The command `scstream`."""

from __future__ import annotations

import functools
import inspect
import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, redirect_stderr, suppress
from enum import StrEnum
from glob import has_magic
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, TextIO, cast

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from scstream import Preview, warm_up
from scstream_app import __version__, diagnosis, evaluation, headless
from scstream_app.errors import ExportError, SettingsError, StudioError
from scstream_app.export import FORMATS
from scstream_app.pipeline import Notice
from scstream_app.session import Session
from scstream_app.settings import SPECS, Settings, Spec
from scstream_app.sources import Source, open_source

app = typer.Typer(
    name="scstream",
    help="Cut any video into segments that keep their identity from frame to frame.\n\n"
    "[bold]scstream[/] or [bold]scstream SOURCE[/] opens the window; the commands do without one.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
bench_app = typer.Typer(help="The same work on other methods, side by side.", no_args_is_help=True)
app.add_typer(bench_app, name="bench")

INTERRUPTED = 130
#: Frames are counted so far.
_LARGEST_FRAME = 2**31 - 1

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of a failure.")]
Quick = Annotated[bool, typer.Option("--quick", help="A rough figure in less time.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress and no summary.")]


def _check_threads(value: int | None) -> int | None:
    try:
        SPECS["threads"].check("threads", value)
    except SettingsError as error:
        raise typer.BadParameter(str(error)) from error
    return value


Threads = Annotated[
    int | None,
    typer.Option(callback=_check_threads, help=f"{SPECS['threads'].help} Default: one for each core."),
]
Frames = Annotated[str, typer.Option(metavar="A:B", help="Only frames A to B - 1, counted from 0.")]
Pattern = Annotated[str, typer.Option(metavar="TEXT", help="Names of images, without suffix: {frame}, {time}, {name}.")]
Moved = Annotated[str | None, typer.Option(help="Where the source is now, if it was moved.")]


class Existing(StrEnum):
    """What to do about files that are there already."""

    REPLACE = "replace"
    SKIP = "skip"
    REFUSE = "refuse"


def _formats_option(default: str) -> Any:
    return typer.Option(
        metavar="LIST",
        help=f"Comma-separated: {', '.join(FORMATS)}. A movie may say what it shows: mp4:mean_colour.{default}",
    )


def main(args: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    given = list(sys.argv[1:] if args is None else args)
    with _forgiving_streams():
        # A shell that wants to know how a word goes on calls the command without arguments.
        if not os.environ.get("_SCSTREAM_COMPLETE") and (not given or _is_source(given[0])):
            return _open_window(given)
        try:
            code = app(given, prog_name="scstream")
        except SystemExit as stop:
            code = stop.code
    return code if isinstance(code, int) else 0


def _is_source(text: str) -> bool:
    """Whether the first word is something to open, rather than an option or a command, mistyped or not."""
    commands = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback}
    if text.startswith("-") or text in commands | {"bench"}:
        return False
    signs = (os.sep, os.altsep or os.sep, "://")
    return any(sign in text for sign in signs) or has_magic(text) or text.startswith("camera:") or os.path.exists(text)


def _open_window(given: Sequence[str]) -> int:
    if len(given) > 1:
        _say(f"The window takes a source and nothing else, got '{given[1]}'. Try 'scstream segment --help'.")
        return 2
    try:
        from scstream_app.ui import app as window
    except ImportError as error:
        _say(f"scstream: The window cannot be opened here: {error}.")
        return 1
    if not window.has_display():
        _say("There is no display here: segment without a window with 'scstream segment SOURCE --out FOLDER'.")
        return 1
    return window.run(given[0] if given else None)


@contextmanager
def _forgiving_streams() -> Iterator[None]:
    """Let no message fail: neither for a letter that the output does not have, nor because nobody listens."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    if sys.stderr is None:
        yield
        return
    with redirect_stderr(cast(TextIO, _Forgiving(sys.stderr))):
        yield


class _Forgiving:
    """A stream that loses what cannot be written: what is said on the way is not worth the work of hours."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write, if that is possible."""
        try:
            return self._stream.write(text)
        except (OSError, ValueError):
            self._give_up()
            return len(text)

    def flush(self) -> None:
        """Flush, if that is possible."""
        try:
            self._stream.flush()
        except (OSError, ValueError):
            self._give_up()

    def _give_up(self) -> None:
        # What is left in the buffer would fail once more when the interpreter ends, and change the exit code.
        with suppress(OSError, ValueError):
            number, nowhere = self._stream.fileno(), os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, number)
            os.close(nowhere)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"scstream {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    pass


class _Interrupted(Exception):
    """Ctrl-C, with what there is to say about it."""


@contextmanager
def reporting(debug: bool = False) -> Iterator[None]:
    """Turn what goes wrong inside into one line on standard error and the right exit code."""
    try:
        yield
    except (KeyboardInterrupt, _Interrupted) as stop:
        _say(str(stop) or "Interrupted.")
        raise typer.Exit(INTERRUPTED) from None
    except SettingsError as error:
        raise typer.BadParameter(str(error)) from error
    except StudioError as error:
        _fail(" ".join([str(error), *getattr(error, "__notes__", [])]), debug)
    except (typer.Exit, typer.BadParameter, BrokenPipeError):
        raise
    except Exception as error:
        hint = "" if debug else " Run again with --debug for the details."
        _fail(f"Unexpected failure: {type(error).__name__}: {error}.{hint}", debug)


def _fail(message: str, debug: bool) -> None:
    if debug:
        traceback.print_exc()
    _say(f"scstream: {message}")
    raise typer.Exit(1) from None


def _say(line: str) -> None:
    # Spaces stay as they are: they may be part of a path that is to be copied.
    print(" ".join(part.strip() for part in line.splitlines() if part.strip()), file=sys.stderr)


def _print_json(values: dict[str, Any]) -> None:
    print(json.dumps(values, indent=2))


@contextmanager
def stopping() -> Iterator[threading.Event]:
    """An event that Ctrl-C sets, so that the frame at hand is finished and kept; a second Ctrl-C stops at once."""
    cancel = threading.Event()

    def on_interrupt(number: int, frame: FrameType | None) -> None:
        if cancel.is_set():
            raise KeyboardInterrupt
        cancel.set()

    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield cancel
    finally:
        signal.signal(signal.SIGINT, before)
    if cancel.is_set():
        raise KeyboardInterrupt


# --- segment and resume -----------------------------------------------------------------------------------


def _parse_frames(text: str) -> tuple[int, int | None]:
    """A:B, either of them optional, as in a Python slice: A is the first frame, B the first one left out."""
    first, colon, last = text.partition(":")
    if not colon or not all(part == "" or part.isdecimal() for part in (first, last)):
        raise typer.BadParameter(f"frames are given as A:B, such as 0:100, 50: or :20; got '{text}'")
    if max(len(first), len(last)) > 10 or max(int(first or 0), int(last or 0)) > _LARGEST_FRAME:
        raise typer.BadParameter(f"frames are counted up to {_LARGEST_FRAME}, got '{text[:30]}'")
    start, stop = int(first or 0), int(last) if last else None
    if stop is not None and stop <= start:
        raise typer.BadParameter(f"in A:B, B must be greater than A; got '{text}'")
    return start, stop


def _parse_formats(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    for name in names:
        if name.partition(":")[0] not in FORMATS:
            raise typer.BadParameter(f"there is no format '{name}'; those known are {', '.join(FORMATS)}")
    return names


def _checked(order: headless.Order) -> headless.Order:
    try:
        order.check()
    except ExportError as error:
        raise typer.BadParameter(str(error)) from error
    return order


def _with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command an option for every entry of the table of settings; it takes them together, as ``settings``."""
    signature = inspect.signature(command, eval_str=True)

    @functools.wraps(command)
    def with_settings(**given: Any) -> None:
        values = {name: given.pop(name) for name in SPECS}
        try:
            settings = Settings.from_dict({name: getattr(value, "value", value) for name, value in values.items()})
        except SettingsError as error:
            raise typer.BadParameter(str(error)) from error
        command(**given, settings=settings)

    parameters = []
    for parameter in signature.parameters.values():
        parameters += _setting_options() if parameter.name == "settings" else [parameter]
    with_settings.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return with_settings


def _setting_options() -> list[inspect.Parameter]:
    defaults = Settings().as_dict()
    place = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return [
        inspect.Parameter(name, place, default=defaults[name], annotation=_option(name, spec))
        for name, spec in SPECS.items()
    ]


def _option(name: str, spec: Spec) -> Any:
    """The option of a setting: its type, and what the help says."""
    more: dict[str, Any] = {"help": spec.help}
    if spec.group == "advanced":
        more["rich_help_panel"] = "Advanced"
    make: Any = StrEnum
    kinds = {"number": float, "integer": int, "switch": bool}
    kind: Any = kinds.get(spec.kind) or make(name, {choice: choice for choice in spec.choices})
    flag = f"{spec.flag}/--no-{spec.flag[2:]}" if spec.kind == "switch" else spec.flag
    if spec.none is not None:
        more |= {"parser": _whole_or_none, "metavar": "INTEGER|none", "help": f"{spec.help} none: {spec.none}."}
    return Annotated[kind, typer.Option(flag, **more)]


def _whole_or_none(text: str | int) -> int | None:
    return None if text == "none" else int(text)


def _examples(*lines: str) -> str:
    """What help ends with; blank lines keep the lines apart."""
    return "\n\n".join(["Examples:" if len(lines) > 1 else "Example:", *(f"[bold]{line}[/]" for line in lines)])


@app.command(
    epilog=_examples(
        "scstream segment clip.mp4 --out results",
        "scstream segment 'frames/*.png' --out results --formats ids,overlay,coco",
        "scstream segment clip.mp4 --out results --object mask.png --formats matte,prores",
        "scstream segment camera:0 --out results --frames :300",
    )
)
@_with_settings
def segment(
    source: Annotated[
        str,
        typer.Argument(metavar="SOURCE", help="A video file, a folder or glob of images, camera:0, or a stream's URL."),
    ],
    out: Annotated[Path, typer.Option(help="Folder for the results; made if need be.")],
    formats: Annotated[str, _formats_option("")] = ",".join(headless.DEFAULT_FORMATS),
    frames: Frames = ":",
    mask: Annotated[
        Path | None,
        typer.Option(
            "--object", metavar="MASK.png", help="A mask of the first frame: the object is followed to the end."
        ),
    ] = None,
    *,
    settings: Settings,
    pattern: Pattern = "{frame:05d}",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier session and its files.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Segment SOURCE into the folder given by --out: a session (NAME.scstream) and files in the chosen formats."""
    start, stop = _parse_frames(frames)
    order = _checked(headless.Order(_parse_formats(formats), pattern=pattern))
    with reporting(debug), open_source(source) as opened:
        masks = None if mask is None else headless.read_masks(mask, opened)
        run = headless.begin(opened, out, settings, order, start=start, stop=stop, masks=masks, overwrite=overwrite)
        with _interruptible(lambda: run.session), stopping() as cancel, _progress_bar(quiet) as bar:
            listener, task = _prepare(bar, cancel, opened, start, stop)
            _follow(bar, task, headless.segment(run, listener))
        _report(run, as_json, quiet)
        headless.raise_failures(run.tally.failures)


@contextmanager
def _interruptible(session: Callable[[], Session | None]) -> Iterator[None]:
    """Say of an interruption how far the session came, and how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        raise _Interrupted(_what_is_kept(session())) from None


def _what_is_kept(session: Session | None) -> str:
    if session is None or not len(session):
        return "Interrupted before the first frame was finished: nothing was written."
    done = f"Interrupted after {_count(len(session), 'frame')}."
    if session.manifest.source.live:
        return f"{done} All of it is kept, but a live source cannot be resumed."
    return f"{done} Go on with: {headless.resume_command(session.path)}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


@app.command(epilog=_examples("scstream resume results/clip.scstream"))
def resume(
    session: Annotated[Path, typer.Argument(metavar="SESSION", help="A NAME.scstream folder.")],
    source: Moved = None,
    threads: Threads = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Go on with a session that was interrupted; it ends with the same ids as if it had not been.

    Files are completed in the formats that were asked for, beside the session.
    """
    with reporting(debug), _open_session(session, writable=True) as opened:
        manifest = opened.manifest
        with _interruptible(lambda: opened), stopping() as cancel, _progress_bar(quiet) as bar:
            with open_source(source or manifest.source.address) as frames:
                listener, task = _prepare(bar, cancel, frames, manifest.start, manifest.stop)
                run, tallies = headless.resume(opened, frames, threads, listener)
                _follow(bar, task, tallies, already=len(opened))
                if not cancel.is_set() and run.order.formats:
                    # Movies and tables of the interrupted run end where it did: all files are made anew.
                    _export(bar, opened, run.out, run.order, 0, None, cancel, frames)
        _report(run, as_json, quiet, resumed=True)


def _open_session(path: Path, writable: bool = False) -> Session:
    """The session at ``path``, or the only one in that folder; what was found damaged in it is said."""
    session = Session.open(headless.find_session(path), writable)
    for text in session.damage:
        _say(text)
    return session


def _prepare(
    bar: Progress, cancel: threading.Event, source: Source, start: int, stop: int | None
) -> tuple[headless.Listener, TaskID]:
    """Compile what has to be, and say on the bar what goes on."""
    task = bar.add_task("Preparing the engine (compiles for half a minute the first time)", total=None, rate="")
    warm_up(lambda done, total, _: bar.update(task, completed=done, total=total))
    bar.reset(task, description="First frame", total=_expected(source, start, stop))

    def on_preview(preview: Preview) -> None:
        n = preview.progress
        bar.update(task, description=f"First frame: sweep {n.sweep}, {n.n_clusters} segments")

    def on_notice(notice: Notice) -> None:
        bar.console.print(notice.text, highlight=False, markup=False)

    def on_repeated(index: int) -> None:
        bar.update(task, description=f"Checking frame {index}", advance=1)

    def on_failure(failure: ExportError) -> None:
        bar.console.print(f"{failure} The other formats go on.", highlight=False, markup=False)

    return headless.Listener(cancel, on_preview, on_notice, on_repeated, on_failure), task


def _follow(bar: Progress, task: TaskID, tallies: Any, already: int = 0) -> None:
    # Closed at once when interrupted, so that the files are finished before the command ends.
    with closing(tallies):
        for tally in tallies:
            _show_tally(bar, task, tally, already)


def _expected(source: Source, start: int, stop: int | None) -> int | None:
    """How many frames the run will have, as far as the source tells."""
    ends = [end for end in (source.length, stop) if end is not None]
    return max(1, min(ends) - start) if ends else None


def _progress_bar(quiet: bool) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(elapsed_when_finished=True),
        console=Console(stderr=True, quiet=quiet),
        disable=quiet,
    )


def _show_tally(bar: Progress, task: TaskID, tally: headless.Tally, already: int) -> None:
    rate = "" if tally.rate is None else f"{tally.rate:.1f} frames/s"
    text = f"Segmenting, {tally.segments_last} segments"
    bar.update(task, completed=already + tally.frames, description=text, rate=rate)


def _report(run: headless.Run, as_json: bool, quiet: bool, resumed: bool = False) -> None:
    session = run.session
    assert session is not None
    report = {
        **run.tally.report(run.segmenter),
        "session": str(session.path),
        "frames_in_session": len(session),
    }
    if not run.tally.frames and len(session):
        report["segments_last"] = session.record(int(session.frames[-1])).rows
    if as_json:
        _print_json(report)
    elif not quiet and resumed and not report["frames"]:
        frames, segments = _count(len(session), "frame"), _count(report["segments_last"], "segment")
        print(f"Already complete: {frames}, {segments}; files written: {', '.join(run.order.formats) or 'none'}")
    elif not quiet:
        _print_summary(report, run.out, run.order.formats, resumed)


def _print_summary(report: dict[str, Any], out: Path, formats: Sequence[str], resumed: bool) -> None:
    done = _count(report["frames"], "frame")
    if resumed:
        done = f"{_count(report['frames'], 'new frame')}, {report['frames_in_session']} in all,"
    line = (
        f"{done} of {report['width']} x {report['height']}, "
        f"{_count(report['segments_last'], 'segment')} at the end, {report['segments_ever']} ever"
    )
    if report["fps"] is not None:
        line += f"; {report['fps']:.1f} frames/s ({report['ms_engine_median']:.1f} ms a frame in the engine)"
    print(f"{line}.\nWritten to {out}: {Path(report['session']).name}, {', '.join(formats)}")


# --- export -----------------------------------------------------------------------------------------------


@app.command(epilog=_examples("scstream export results/clip.scstream --formats coco,gif --out shared"))
def export(
    session: Annotated[Path, typer.Argument(metavar="SESSION", help="A NAME.scstream folder.")],
    formats: Annotated[str, _formats_option("")],
    out: Annotated[Path, typer.Option(help="Folder for the files; made if need be.")],
    frames: Frames = ":",
    scale: Annotated[float, typer.Option(help="Size of what is written against the source.")] = 1.0,
    pattern: Pattern = "{frame:05d}",
    view: Annotated[
        str | None,
        typer.Option(
            help="What movies show: overlay, mean_colour, boundaries, ... "
            "Default: the overlay; in webm and prores the objects cut out, if there are any."
        ),
    ] = None,
    palette: Annotated[str, typer.Option(help="Colours of the overlay: vivid or safe for the colour-blind.")] = "vivid",
    existing: Annotated[
        Existing,
        typer.Option(
            help="Files that are there: replace (once all frames are written, images left over from an earlier export "
            "go), skip (resumes image sequences), or refuse."
        ),
    ] = Existing.REPLACE,
    source: Moved = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write a session's frames in other formats. The source is needed only for formats that show its picture."""
    start, stop = _parse_frames(frames)
    order = _checked(headless.Order(_parse_formats(formats), scale, pattern, existing.value, view, palette))
    with reporting(debug), _open_session(session) as opened:
        with stopping() as cancel, _progress_bar(quiet) as bar, ExitStack() as stack:
            frames_of = stack.enter_context(open_source(source)) if source is not None else None
            done = _export(bar, opened, out, order, start, stop, cancel, frames_of)
        if as_json:
            _print_json({"frames": done, "formats": list(order.formats), "out": str(out)})
        elif not quiet:
            print(f"{done} frames written to {out}: {', '.join(order.formats)}")


def _export(
    bar: Progress,
    session: Session,
    out: Path,
    order: headless.Order,
    start: int,
    stop: int | None,
    cancel: threading.Event,
    source: Source | None = None,
) -> int:
    indices = [index for index in session.frames.tolist() if index >= start and (stop is None or index < stop)]
    task = bar.add_task("Writing files", total=len(indices), rate="")
    done = 0
    # Closed at once when interrupted, so that nothing half-written stays when the command ends.
    with closing(headless.export(session, out, order, start, stop, cancel, source)) as steps:
        for _ in steps:
            done += 1
            bar.update(task, completed=done)
    return done


# --- evaluate ---------------------------------------------------------------------------------------------


@app.command(epilog=_examples("scstream evaluate results/object Annotations/480p/kite-surf"))
def evaluate(
    predictions: Annotated[Path, typer.Argument(help="A folder of masks or id images, an .npz file, or a session.")],
    truth: Annotated[Path, typer.Argument(help="The same for the ground truth; frames are matched by number.")],
    skip_ends: Annotated[
        bool, typer.Option("--skip-ends", help="Leave out the first and the last frame, as DAVIS does.")
    ] = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Score masks (J and F) or segments (what they make possible, how steady they are) against a ground truth."""
    with reporting(debug):
        scores = evaluation.evaluate(predictions, truth, skip_ends)
        if as_json:
            _print_json(scores)
            return
        table = Table(show_header=False, box=None, pad_edge=False)
        for name, value in evaluation.lines(scores):
            table.add_row(name.replace("_", " "), value)
        Console().print(table)


# --- info -------------------------------------------------------------------------------------------------


@app.command(epilog=_examples("scstream info", "scstream info results/clip.scstream"))
def info(
    session: Annotated[
        Path | None, typer.Argument(metavar="[SESSION]", help="A NAME.scstream folder, to show what it holds.")
    ] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Show versions, codecs and cameras: what a bug report needs. Of a session: its frames, settings and source."""
    with reporting(debug):
        facts = diagnosis.facts() if session is None else _facts_of(session)
        if as_json:
            _print_json(facts)
            return
        table = Table(show_header=False, box=None, pad_edge=False)
        for name, value in facts.items():
            table.add_row(name.replace("_", " "), _in_words(value))
        # Names of folders may look like markup.
        Console(markup=False).print(table)


def _in_words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_in_words(each)}" for name, each in value.items())
    if isinstance(value, list):
        return ", ".join(map(_in_words, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def _facts_of(path: Path) -> dict[str, Any]:
    with _open_session(path) as session:
        return diagnosis.session_facts(session, headless.objects_of(session))


# --- bench ------------------------------------------------------------------------------------------------


@bench_app.command("video")
def bench_video(
    source: Annotated[
        str | None, typer.Argument(metavar="[SOURCE]", help="A video file or folder of images. Default: a sample clip.")
    ] = None,
    as_json: Json = False,
    quick: Quick = False,
    debug: Debug = False,
) -> None:
    """Time the engine beside scikit-learn's MiniBatchKMeans on the same frames."""
    from scstream_app.bench import tables, video

    with reporting(debug):
        with _status() as say:
            result = video.measure(source, quick, say)
        _print_json(result) if as_json else tables.print_video(result)


@bench_app.command("streams")
def bench_streams(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="An npz file with X (batches, n, D) and y (batches, n).")
    ] = None,
    alpha: Annotated[float, typer.Option(min=0.0, help="Larger values favour more clusters.")] = 10.0,
    decay: Annotated[float, typer.Option(min=0.0, help="How fast the past is forgotten: 2 ** -decay a batch.")] = 0.3,
    psi: Annotated[float, typer.Option(help="Prior guess of a Gaussian cluster's variance.")] = 1.0,
    as_json: Json = False,
    quick: Quick = False,
    debug: Debug = False,
) -> None:
    """Predict every batch of a stream before learning from it, beside MiniBatchKMeans."""
    from scstream_app.bench import streams, tables

    with reporting(debug):
        with _status() as say:
            result = streams.measure(file, quick, alpha, decay, psi, say)
        _print_json(result) if as_json else tables.print_streams(result)


@contextmanager
def _status() -> Iterator[Callable[[str], None]]:
    """A line on standard error that says what is being done."""
    with Console(stderr=True).status("") as status:
        yield lambda text: status.update(text)
