"""Print benchmark results as tables."""

from __future__ import annotations

from itertools import chain, groupby, repeat
from operator import itemgetter
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from scstream_app.evaluation.bench.video.kmeans_forms import SAMPLE_PIXELS


def print_video(result: dict[str, Any]) -> None:
    """Print the results of `bench.video.speed.measure`."""
    console = Console()
    console.print(f"{result['source']}: {result['frames']} frames of {result['width']} x {result['height']}\n")
    for threads in result["thread_counts"]:
        console.print(_comparison(result, threads))
    console.print(
        f"k-means is scikit-learn's MiniBatchKMeans; 'sample' updates it with {SAMPLE_PIXELS:,} pixels and labels all. "
        "Speed is relative to its fastest form with K = 80.\n"
    )
    on = f"on {result['threads']} threads"
    table = _table(f"Engine step {on}", "clusters", "ms per frame", "10 % to 90 %")
    for row in result["by_clusters"]:
        table.add_row(str(row["clusters"]), _ms(row), _spread(row))
    console.print(table)
    table = _table(f"Engine step {on}", "frame", "clusters", "ms per frame", "10 % to 90 %", "ns per pixel")
    for row in result["by_pixels"]:
        size = f"{row['width']} x {row['height']}"
        table.add_row(size, str(row["clusters"]), _ms(row), _spread(row), f"{row['ns_per_pixel']:.0f}")
    console.print(table)
    print_serial_part(result["serial_part"], console)


def print_serial_part(part: dict[str, Any], console: Console) -> None:
    """Print the results of `bench.video.serial_part.serial_part`."""
    table = _table("Phases of a step on one thread, ms of processor time", "phase", "serial", "shared")
    for name, times in part["phases"].items():
        table.add_row(name, f"{times['serial']['cpu']:.2f}", f"{times['shared']['cpu']:.2f}")
    table.add_row("all", f"{part['serial']:.2f}", f"{part['shared']:.2f}")
    console.print(table)
    speeds = " and ".join(f"{speed:.1f} x on {cores} cores" for cores, speed in part["estimates"].items())
    console.print(f"Serial part {part['serial']:.2f} ms. By Amdahl's law a step is {speeds}, relative to one core.")


def _comparison(result: dict[str, Any], threads: int) -> Table:
    table = _table(f"ms per frame on {threads} threads", "step", "clusters", "median", "10 % to 90 %", "speed")
    for row in result["methods"]:
        if row["threads"] == threads:
            step = f"k-means: {row['form']}" if row["given"] else row["method"]
            clusters = f"{row['clusters']} {'given' if row['given'] else 'found'}"
            table.add_row(step, clusters, _ms(row), _spread(row), f"{row['speed_ratio']:.2f} x")
    return table


def print_streams(result: dict[str, Any]) -> None:
    """Print the results of `bench.streams.prequential.measure`."""
    title = (
        f"{result['source']}: {result['batches']} batches of {result['batch_size']} points, "
        f"{result['features']} features, {result['true_clusters']} clusters, {_seeds(result)}"
    )
    table = _table(title, "method", "clusters", "ARI", "NMI", "purity", "F", "full NMI", "ms")
    for row in result["methods"]:
        scores = [f"{row[name]:.3f}" for name in ("ari", "nmi", "purity", "pairwise_f", "full_nmi")]
        clusters = f"{result['true_clusters']} given" if row["given"] else f"{row['clusters']:.0f} found"
        table.add_row(row["method"], clusters, *scores, _ms(row))
    Console().print(table)


def print_generated(result: dict[str, Any]) -> None:
    """Print the results of `bench.streams.generated.measure`."""
    title = (
        f"{result['streams']} streams of {result['true_clusters']} drifting Gaussians in the plane: "
        f"{result['batches']} batches of {result['batch_size']} points, {_seeds(result)}"
    )
    table = _table(title, "spread", "method", "clusters", "mean", "worst", "ms", "first", left=2)
    for (spread, ari), rows in groupby(result["methods"], itemgetter("spread", "truth_ari")):
        name, truth = "all" if spread is None else f"{spread:g}", f"ARI {ari:.3f}"
        for first, row in zip(chain((name, truth), repeat("")), rows, strict=False):
            table.add_row(
                first,
                row["method"],
                f"{_range(row)} {'given' if row['given'] else 'found'}",
                f"{row['mean']:.3f}",
                f"{row['worst']:.3f}",
                _ms(row),
                f"{row['ms_first']:.0f}",
            )
        table.add_section()
    console = Console()
    console.print(table)
    console.print(
        "Spread: standard deviation of the means; below it the ARI of labels by the true parameters. Mean and worst: "
        "ARI of the labels of a batch once it is learned, relative to that. Clusters: at the end. Times: ms per batch, "
        "and for the first."
    )


def print_datasets(result: dict[str, Any]) -> None:
    """Print the results of `bench.datasets.measure`."""
    title = f"Methods with their defaults, {_seeds(result)}"
    table = _table(title, "data", "method", "clusters", "ARI", "seconds", left=2)
    for data in result["datasets"]:
        size = f"{data['points']} points, K = {data['true_clusters']}"
        for name, row in zip(chain((data["data"], size), repeat("")), data["methods"], strict=False):
            table.add_row(name, row["method"], _range(row), f"{row['ari']:.3f}", f"{row['seconds']:.2f}")
        table.add_section()
    console = Console()
    console.print(table)
    title = f"{len(result['datasets'])} data sets"
    table = _table(title, "method", "mean ARI", f"best, or within {result['near']:g} of it")
    for row in result["summary"]:
        table.add_row(row["method"], f"{row['mean_ari']:.3f}", str(row["near_best"]))
    console.print(table)


def _table(title: str, *columns: str, left: int = 1) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index < left else "right", no_wrap=True)
    return table


def _ms(row: dict[str, Any]) -> str:
    return f"{row['ms_median']:.1f}"


def _spread(row: dict[str, Any]) -> str:
    return f"{row['ms_p10']:.1f} to {row['ms_p90']:.1f}"


def _range(row: dict[str, Any]) -> str:
    fewest, most = row["fewest_clusters"], row["most_clusters"]
    return str(fewest) if fewest == most else f"{fewest} to {most}"


def _seeds(result: dict[str, Any]) -> str:
    return f"{result['seeds']} seed" if result["seeds"] == 1 else f"{result['seeds']} seeds"
