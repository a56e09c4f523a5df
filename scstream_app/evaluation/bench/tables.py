"""Print benchmark results as tables."""

from __future__ import annotations

from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table


def print_video(result: dict[str, Any]) -> None:
    """Print the results of `bench.video.measure`."""
    console = Console()
    title = (
        f"{result['source']}: {result['frames']} frames of {result['width']} x {result['height']}, "
        f"{result['threads']} threads"
    )
    table = _table(title, "method", "clusters", "ms per frame", "10 % to 90 %", "speed vs K = 80")
    for row in result["methods"]:
        clusters = f"{row['clusters']} {'given' if row['given'] else 'found'}"
        table.add_row(row["method"], clusters, _ms(row), _spread(row), f"{row['speed_ratio']:.2f} x")
    console.print(table)
    table = _table("Engine step by number of clusters", "clusters", "ms per frame", "10 % to 90 %")
    for row in result["by_clusters"]:
        table.add_row(str(row["clusters"]), _ms(row), _spread(row))
    console.print(table)
    table = _table(
        "Engine step by frame size",
        "frame", "clusters", "ms per frame", "10 % to 90 %", "ns per pixel",
    )  # fmt: skip
    for row in result["by_pixels"]:
        size = f"{row['width']} x {row['height']}"
        table.add_row(size, str(row["clusters"]), _ms(row), _spread(row), f"{row['ns_per_pixel']:.0f}")
    console.print(table)


def print_streams(result: dict[str, Any]) -> None:
    """Print the results of `bench.streams.measure`."""
    title = (
        f"{result['source']}: {result['batches']} batches of {result['batch_size']} points, "
        f"{result['features']} features, {result['true_clusters']} clusters"
    )
    table = _table(title, "method", "clusters", "ARI", "NMI", "purity", "F", "full NMI", "ms")
    for row in result["methods"]:
        scores = [f"{row[name]:.3f}" for name in ("ari", "nmi", "purity", "pairwise_f", "full_nmi")]
        clusters = f"{row['clusters']:.0f} {'given' if row['given'] else 'found'}"
        table.add_row(row["method"], clusters, *scores, _ms(row))
    Console().print(table)


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index == 0 else "right", no_wrap=True)
    return table


def _ms(row: dict[str, Any]) -> str:
    return f"{row['ms_median']:.1f}"


def _spread(row: dict[str, Any]) -> str:
    return f"{row['ms_p10']:.1f} to {row['ms_p90']:.1f}"
