"""Plots of benchmark reports as SVG files, drawn by matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scstream_app.errors import EvaluationError
from scstream_app.evaluation.bench.reports.report import Plot

#: Colours that colour-blind readers can tell apart (Okabe and Ito), dark enough for a white page.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = "osD^vPX"


def save_svg(plot: Plot, path: Path) -> None:
    """Draw a plot; the same plot gives the same bytes with the same matplotlib."""
    try:
        import matplotlib
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
    except ImportError as error:
        raise EvaluationError("Plots need matplotlib. Install it: pip install 'scstream-studio[bench]'") from error
    # Text stays text: the files are small and their words can be searched.
    with matplotlib.rc_context({"svg.hashsalt": plot.name, "svg.fonttype": "none", "font.size": 10}):
        figure = Figure(figsize=(7.0, 4.2), layout="constrained")
        # The method that is called below has no types.
        canvas: Any = FigureCanvasSVG(figure)
        _draw(figure.subplots(), plot)
        path.parent.mkdir(parents=True, exist_ok=True)
        canvas.print_svg(str(path), metadata={"Date": None, "Creator": None})


def _draw(axes: Any, plot: Plot) -> None:
    for place, series in enumerate(plot.series):
        axes.plot(
            series.x,
            series.y,
            label=f"{series.name} (published)" if series.published else series.name,
            color=_COLOURS[place % len(_COLOURS)],
            marker=_MARKERS[place % len(_MARKERS)],
            markersize=5,
            linestyle="--" if series.published else "-",
            markerfacecolor="white" if series.published else None,
        )
    axes.set(title=plot.title, xlabel=plot.x, ylabel=plot.y)
    if plot.log_x:
        axes.set_xscale("log")
        _label_logarithmic(axes.xaxis)
    if plot.log_y:
        axes.set_yscale("log")
        _label_logarithmic(axes.yaxis)
    else:
        axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
    axes.grid(True, which="both", linewidth=0.4, alpha=0.5)
    if plot.series:
        axes.legend(frameon=False)


def _label_logarithmic(axis: Any) -> None:
    """Label powers of ten, and 2 and 5 between them if there are few, as plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 100.0 * low else (1.0,)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axis.set_minor_formatter(NullFormatter())
