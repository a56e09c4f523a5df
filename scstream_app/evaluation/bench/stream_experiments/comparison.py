"""How ScStream compares with the other methods on each stream: the best scores, the paper's, and the times."""

from __future__ import annotations

from collections.abc import Sequence

from scstream_app.evaluation.bench.reports.report import Row, Table
from scstream_app.evaluation.bench.stream_experiments import published
from scstream_app.evaluation.bench.stream_experiments.sources import Stream

OURS, KMEANS = "ScStream", "MiniBatchKMeans"


def empty_table() -> Table:
    """The table whose rows `compare` makes."""
    columns = [
        "stream",
        "ari",
        "best_other_ari",
        "nmi",
        "best_other_nmi",
        "published_ari_less_std",
        "published_nmi_less_std",
        "time_over_kmeans",
        "fastest_other",
    ]
    note = (
        "Best other: of the methods that are not given K and learned all batches within the limit. Published: "
        "ScStream's figures in the paper less one standard deviation. Times are processor time: ScStream's over that "
        "of MiniBatchKMeans, and that of the fastest method besides MiniBatchKMeans over ScStream's."
    )
    return Table("comparison", "ScStream beside other methods", columns, note=note, keys=["stream"])


def can_compare(rows: Sequence[Row]) -> bool:
    """Whether ScStream and others were measured."""
    return any(row["method"] == OURS for row in rows) and len(rows) > 1


def compare(stream: Stream, rows: Sequence[Row]) -> Row:
    """ScStream's row of the comparison on a stream."""
    ours = next(row for row in rows if row["method"] == OURS)
    others = [row for row in rows if row["library"] != "scstream"]
    # Later batches may be harder: scores of different batches cannot be compared.
    free = [row for row in others if not row["K_given"] and row["batches"] >= ours["batches"]]
    kmeans = [row for row in others if row["method"] == KMEANS]
    not_kmeans = [row for row in others if row["method"] != KMEANS]
    paper = published.scstream_scores(stream.name)
    best_ari = max(free, key=lambda row: row["ari"], default=None)
    best_nmi = max(free, key=lambda row: row["nmi"], default=None)
    fastest = min(not_kmeans, key=lambda row: row["cpu_ms"], default=None)
    ratio = _ratio(fastest, ours) if fastest else None
    return {
        "stream": stream.title,
        "ari": ours["ari"],
        "best_other_ari": best_ari and f"{best_ari['ari']:.3f} {best_ari['method']}",
        "nmi": ours["nmi"],
        "best_other_nmi": best_nmi and f"{best_nmi['nmi']:.3f} {best_nmi['method']}",
        "published_ari_less_std": round(paper["ari"] - paper["ari_std"], 2),
        "published_nmi_less_std": round(paper["nmi"] - paper["nmi_std"], 2),
        "time_over_kmeans": _ratio(ours, kmeans[0]) if kmeans else None,
        "fastest_other": fastest and (f"{ratio} {fastest['method']}" if ratio else fastest["method"]),
    }


def _ratio(row: Row, other: Row) -> float | None:
    """Processor time of a row over that of another; None if the clock is too coarse."""
    return round(row["cpu_ms"] / other["cpu_ms"], 2) if other["cpu_ms"] else None
