"""`scstream bench`: benchmarks against other methods."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scstream_app.errors import SettingsError
from scstream_app.terminal.command_options import (
    Debug,
    Json,
    Quick,
    QuietProgress,
    Save,
    Seeds,
    Threads,
    examples,
    in_range,
)
from scstream_app.terminal.console import exit_on_error, print_json
from scstream_app.terminal.exit_codes import FAILED
from scstream_app.terminal.lazy_group import Group, command_app
from scstream_app.terminal.progress_display import status_display

if TYPE_CHECKING:
    # Importing the engine takes a while.
    from scstream_app.evaluation.bench.reports.report import Report

app = command_app(cls=Group, help="Compare the engine with other methods.")


@app.command(
    "video",
    epilog=examples(
        "scstream bench video", "scstream bench video DAVIS --clip kite-surf --clip bear --save video.json"
    ),
)
def bench_video(
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="[SOURCE]",
            help="A video file, a folder of images, or a folder with JPEGImages and Annotations in the layout of "
            "DAVIS. Default: a sample clip.",
        ),
    ] = None,
    clips: Annotated[
        list[str] | None,
        typer.Option("--clip", help="DAVIS: name of a clip. Repeat it for several. Default: all; with --quick one."),
    ] = None,
    frames: Annotated[
        int | None,
        typer.Option(
            callback=in_range("integer", low=3, high=100_000),
            help="DAVIS: frames of each clip, from the first. Default: 20; with --quick 5.",
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            callback=in_range("integer", low=1, high=1000),
            help="DAVIS: number of runs of each method on each clip. Default: 1.",
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            callback=in_range("integer", low=1, high=1024), help="Number of threads. Default: two, and one per core."
        ),
    ] = None,
    skip: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT", help="DAVIS: leave out the methods with this text in their names. Can be repeated."
        ),
    ] = None,
    save: Save = None,
    as_json: Json = False,
    quick: Quick = False,
    quiet: QuietProgress = False,
    debug: Debug = False,
) -> None:
    """Compare the engine with other methods on the same frames.

    On a video: its speed, with several forms of scikit-learn's MiniBatchKMeans.

    On clips in the layout of DAVIS: speed, memory, J and steadiness, with k-means, a Gaussian mixture and superpixels.
    """
    from scstream_app.evaluation.bench.video import davis_clips, quality

    choices = {"clip": clips, "frames": frames, "seeds": seeds, "skip": skip}
    command = _command("video", [source] if source else [], **choices, threads=threads, quick=quick)

    def measure(report: Report, on_status: Callable[[str], None]) -> None:
        quality.measure(report, Path(source or ""), clips or (), frames, seeds, threads, skip or (), quick, on_status)

    if source is not None and davis_clips.is_davis(Path(source)):
        _run(command, measure, save, as_json, quiet, debug)
        return
    with exit_on_error(debug):
        for name, value in choices.items():
            if value:
                raise SettingsError(f"--{name} needs a folder in the layout of DAVIS, got '{source or 'no folder'}'")
        _bench_speed(source, threads, quick, quiet, command, as_json, save)


def _bench_speed(
    source: str | None, threads: int | None, quick: bool, quiet: bool, command: str, as_json: bool, save: Path | None
) -> None:
    """Measure the speed on one video."""
    from scstream_app.evaluation.bench import tables
    from scstream_app.evaluation.bench.reports import output
    from scstream_app.evaluation.bench.video import speed

    if save is not None:
        output.check_file(save)
    with status_display(quiet) as on_status:
        result = speed.measure(source, quick, on_status, threads)
    if save is not None:
        speed.report(result, command).save(save)
    print_json(result) if as_json else tables.print_video(result)


class StreamsPart(StrEnum):
    """Parts of `scstream bench streams`."""

    METHODS = "methods"
    ABLATION = "ablation"
    SWEEPS = "sweeps"


@app.command(
    "streams",
    epilog=examples(
        "scstream bench streams --data streams --save streams.json",
        "scstream bench streams --stream gauss2d --method ScStream --method DBSTREAM",
        "scstream bench streams --spreads",
        "scstream bench streams stream.npz",
    ),
)
def bench_streams(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="An npz file with X (batches, n, D) and y (batches, n), to compare with MiniBatchKMeans and "
            "GaussianMixture only. Default: the experiments of the ScStream paper.",
        ),
    ] = None,
    part: Annotated[
        list[StreamsPart] | None,
        typer.Option(
            help="What to measure: all methods on each stream; ScStream without its deterministic sweep; its scores "
            "and time against the number of sweeps, on the first stream. Repeat it for several. Default: all three, "
            "or with --method the first.",
        ),
    ] = None,
    spreads: Annotated[
        bool,
        typer.Option(
            "--spreads",
            help="Measure forty generated streams instead, with clusters close together to far apart.",
        ),
    ] = False,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            exists=True,
            file_okay=False,
            help="Folder with covtype.npz (or UCI's covtype.data), 20newsgroups_counts.npz and 20newsgroups_meta.npz, "
            "and perhaps gauss2d.npz and multinomial100d.npz, which are generated otherwise.",
        ),
    ] = None,
    stream: Annotated[list[str] | None, typer.Option(help="A stream to measure. Repeat it. Default: all.")] = None,
    method: Annotated[list[str] | None, typer.Option(help="A method to measure. Repeat it. Default: all.")] = None,
    batches: Annotated[
        int | None,
        typer.Option(
            callback=in_range("integer", low=3, high=1_000_000),
            help="Batches of 1000 points of each stream. Default: 100.",
        ),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(
            callback=in_range("integer", low=1, high=10_000),
            help="Trials of hyperparameters for each method, on the first ten batches. Default: 24.",
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            callback=in_range("number", low=0.1, high=1e6),
            help="Limit of processor time for tuning a method. Default: 60.",
        ),
    ] = None,
    run_seconds: Annotated[
        float | None,
        typer.Option(
            callback=in_range("number", low=0.1, high=1e6),
            help="Limit of processor time for each run of a method. Default: 300.",
        ),
    ] = None,
    save: Save = None,
    seeds: Seeds = None,
    alpha: Annotated[
        float | None,
        typer.Option(
            callback=in_range("number", low=1e-300, high=1e300),
            help="With FILE or --spreads: larger values favour more clusters. Default: 10; with --spreads 10000.",
        ),
    ] = None,
    decay: Annotated[
        float | None,
        typer.Option(
            callback=in_range("number", low=0.0, high=100.0),
            help="With FILE or --spreads: how fast old batches lose weight, by 2 ** -decay per batch. Default: 0.3.",
        ),
    ] = None,
    psi: Annotated[
        float | None,
        typer.Option(
            callback=in_range("number", low=1e-300, high=1e300),
            help="With FILE or --spreads: prior variance of a Gaussian cluster. Default: 1; with --spreads 0.5.",
        ),
    ] = None,
    as_json: Json = False,
    quick: Quick = False,
    quiet: QuietProgress = False,
    debug: Debug = False,
) -> None:
    """Compare scores, times and memory on streams with clusterers of scikit-learn and river.

    Each batch is predicted before it is learned. Every method is tuned on the first ten batches with the same budget.

    On the forty generated streams, each batch is labelled once it is learned, and scores are relative to the true
    parameters.
    """
    from scstream_app.evaluation.bench import tables
    from scstream_app.evaluation.bench.streams import generated, prequential

    given = {name: value for name, value in (("alpha", alpha), ("decay", decay), ("psi", psi)) if value is not None}
    chosen: dict[str, Any] = {"data": data, "stream": stream, "method": method}
    chosen |= {"batches": batches, "trials": trials, "seconds": seconds, "run_seconds": run_seconds, "seeds": seeds}
    if file is None and not spreads:
        _reject(given, "with FILE or --spreads")
        _run_experiments(chosen, part, save, as_json, quick, quiet, debug)
        return
    _reject(chosen | {"part": part, "save": save, "seeds": None}, "without FILE and --spreads")
    if file is not None and spreads:
        _reject({"spreads": True}, "without FILE")
    with exit_on_error(debug):
        with status_display(quiet) as on_status:
            if file is None:
                result = generated.measure(quick, seeds, on_status=on_status, **given)
            else:
                result = prequential.measure(file, quick, seeds, on_status=on_status, **given)
        show = tables.print_generated if file is None else tables.print_streams
        print_json(result) if as_json else show(result)


def _reject(options: Mapping[str, Any], where: str) -> None:
    """Raise if an option was given that would have no effect."""
    for name, value in options.items():
        if value is not None:
            raise typer.BadParameter(f"it has an effect only {where}", param_hint=f"'--{name.replace('_', '-')}'")


def _run_experiments(
    chosen: Mapping[str, Any],
    parts: list[StreamsPart] | None,
    save: Path | None,
    as_json: bool,
    quick: bool,
    quiet: bool,
    debug: bool,
) -> None:
    """Run the experiments of the paper on streams; ``chosen`` are options, None if not given."""
    from scstream_app.evaluation.bench.reports.report import read_versions
    from scstream_app.evaluation.bench.stream_experiments import experiments, sweeps

    if chosen["method"] is not None:
        parts = parts or [StreamsPart.METHODS]
        _reject({} if StreamsPart.METHODS in parts else {"method": True}, "with --part methods")
    fields = {"stream": "streams", "method": "methods", "batches": "n_batches", "trials": "n_trials"}
    values = {fields.get(name, name): value for name, value in chosen.items() if value is not None}
    plan = replace(experiments.Plan.quick() if quick else experiments.Plan(), **values)

    def measure(report: Report, on_status: Callable[[str], None]) -> None:
        experiments.check_names(plan)
        report.versions = read_versions("river")
        report.settings = {**plan.as_json(), "quick": quick}
        tuned: dict[str, Any] = {}
        if parts is None or StreamsPart.METHODS in parts:
            tuned = experiments.measure(report, plan, on_status)
        if parts is None or StreamsPart.ABLATION in parts:
            sweeps.measure_ablation(report, plan, tuned, on_status)
        if parts is None or StreamsPart.SWEEPS in parts:
            counts = sweeps.SWEEPS[:2] if quick else sweeps.SWEEPS
            sweeps.measure_sweeps(report, plan, tuned, counts, on_status)

    command = _command("streams", (), part=parts, **chosen, quick=quick)
    _run(command, measure, save, as_json, quiet, debug)


@app.command("datasets")
def bench_datasets(
    seeds: Seeds = None,
    as_json: Json = False,
    quick: Quick = False,
    quiet: QuietProgress = False,
    debug: Debug = False,
) -> None:
    """Compare ScStream with BayesianGaussianMixture and HDBSCAN, all with their defaults, on ordinary data sets."""
    from scstream_app.evaluation.bench import datasets, tables

    with exit_on_error(debug):
        with status_display(quiet) as on_status:
            result = datasets.measure(quick, seeds, on_status)
        print_json(result) if as_json else tables.print_datasets(result)


@app.command("supervoxels", epilog=examples("scstream bench supervoxels camvid --void 11"))
def bench_supervoxels(
    root: Annotated[
        Path,
        typer.Argument(
            metavar="ROOT",
            help="A folder with pictures in frames/ and label images in labels/ or gt/, or one with such folders.",
        ),
    ],
    void: Annotated[
        int,
        typer.Option(
            callback=in_range("integer", low=0, high=2**24 - 1),
            help="Label of pixels that belong to no region; black is 0.",
        ),
    ] = 0,
    seeds: Seeds = None,
    save: Save = None,
    as_json: Json = False,
    quick: Quick = False,
    quiet: QuietProgress = False,
    debug: Debug = False,
) -> None:
    """Score segments as supervoxels with the measures of LIBSVX, from coarse to fine, beside published figures."""
    from scstream_app.evaluation.bench import supervoxels

    def measure(report: Report, on_status: Callable[[str], None]) -> None:
        supervoxels.measure(report, root, void, seeds, quick, on_status)

    _run(_command("supervoxels", [root], void=void, seeds=seeds, quick=quick), measure, save, as_json, quiet, debug)


@app.command("scaling", epilog=examples("scstream bench scaling", "scstream bench scaling a.mp4 b.mp4 --only pixels,k"))
def bench_scaling(
    sources: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SOURCE]...", help="Videos or folders of images. Default: the sample clips."),
    ] = None,
    only: Annotated[
        str, typer.Option(metavar="LIST", help="Comma-separated axes: pixels, k, d, points, threads. Default: all.")
    ] = "",
    threads: Threads = None,
    save: Save = None,
    as_json: Json = False,
    quick: Quick = False,
    quiet: QuietProgress = False,
    debug: Debug = False,
) -> None:
    """Measure how the time of a step grows with pixels, clusters, dimensions, points and threads.

    Beside the times stand bounds from the memory bandwidth and the multiply-adds a second of this machine.
    """
    from scstream_app.evaluation.bench.scaling import curves

    axes = [part.strip().lower() for part in only.split(",") if part.strip()]

    def measure(report: Report, on_status: Callable[[str], None]) -> None:
        curves.measure(report, sources or (), axes, quick, threads, on_status)

    _run(
        _command("scaling", sources or (), only=only, threads=threads, quick=quick),
        measure,
        save,
        as_json,
        quiet,
        debug,
    )


@app.command("compare", epilog=examples("scstream bench compare before.json after.json"))
def bench_compare(
    old: Annotated[Path, typer.Argument(metavar="A.json", help="A report that a benchmark saved with --save.")],
    new: Annotated[Path, typer.Argument(metavar="B.json", help="A later report of the same benchmark.")],
    tolerance: Annotated[
        float,
        typer.Option(
            callback=in_range("number", low=0.0, high=10.0),
            help="Smallest change that counts, as a share of the old value.",
        ),
    ] = 0.05,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Compare two reports: exit code 1 if a value got worse by more than the tolerance and its noise."""
    from scstream_app.evaluation.bench.reports.compare import compare
    from scstream_app.evaluation.bench.reports.output import print_comparison
    from scstream_app.evaluation.bench.reports.report import Report

    with exit_on_error(debug):
        found = compare(Report.load_file(old), Report.load_file(new), tolerance)
        print_json(found.as_json()) if as_json else print_comparison(found)
        if found.worse:
            raise typer.Exit(FAILED)


def _run(
    command: str,
    measure: Callable[[Report, Callable[[str], None]], None],
    save: Path | None,
    as_json: bool,
    quiet: bool,
    debug: bool,
) -> None:
    """Run a benchmark that fills a report, then print and save it; if interrupted, what was measured so far."""
    from scstream_app.evaluation.bench.reports.output import reported
    from scstream_app.evaluation.bench.reports.report import Report

    with exit_on_error(debug):
        report = Report(command.split()[2], command)
        with reported(report, as_json, save), status_display(quiet) as on_status:
            measure(report, on_status)


def _command(benchmark: str, sources: Sequence[str | Path], **options: object) -> str:
    """The command that a report names: sources without their folders, and options that are not None, False or empty."""
    words = ["scstream", "bench", benchmark, *(Path(source).name for source in sources)]
    for option, given in options.items():
        for value in given if isinstance(given, list) else [given]:
            if value is not None and value is not False and value != "":
                text = value.name if isinstance(value, Path) else str(value)
                name = f"--{option.replace('_', '-')}"
                words += [name] if value is True else [name, text]
    return shlex.join(words)
