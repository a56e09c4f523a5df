"""HTML that notebooks show for segmenters and mixtures."""

from __future__ import annotations

import base64
import io
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import imageio.v3 as iio
import numpy as np
import pytest

from scstream import DiagonalGaussian, Mixture, Multinomial, ScStream, VideoSegmenter
from scstream.notebook import png

HALVES = np.zeros((60, 600, 3), np.uint8)
HALVES[:, 300:] = [250, 180, 20]


class Cells(HTMLParser):
    """Text of the table's cells by row; raises AssertionError for elements that are not closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._open: list[str] = []
        self.feed(html)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag != "img":
            self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def thumbnail(html: str) -> Any:
    [data] = re.findall(r'src="data:image/png;base64,([^"]+)"', html)
    return iio.imread(io.BytesIO(base64.b64decode(data)), extension=".png")


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (64, 48)])
def test_a_png_is_read_back(shape: tuple[int, int]) -> None:
    picture = np.random.default_rng(0).integers(0, 256, (*shape, 3), np.uint8)
    np.testing.assert_array_equal(iio.imread(io.BytesIO(png(picture)), extension=".png"), picture)


def test_a_segmenter_shows_its_parameters_its_segments_and_the_last_frame() -> None:
    segmenter = VideoSegmenter(seed=0, alpha=10.0, max_init_sweeps=40)
    ids = segmenter.segment(HALVES)
    html = segmenter._repr_html_()
    assert "VideoSegmenter(alpha=10.0, seed=0, max_init_sweeps=40)" in html
    head, *rows = Cells(html).rows
    assert head == ["colour", "id", "share", "age", "row, column"]
    largest = segmenter.statistics_[0]
    assert rows[0][1:] == [
        str(largest["id"]),
        f"{100.0 * (ids == largest['id']).mean():.1f} %",
        "0",
        f"{largest['row']:.0f}, {largest['column']:.0f}",
    ]
    assert len(rows) == min(12, len(segmenter.statistics_))
    small = thumbnail(html)
    assert max(small.shape) <= 240
    assert np.abs(small.astype(int) - HALVES[::3, ::3]).max() <= 2


def test_a_segmenter_without_a_frame_has_no_thumbnail(tmp_path: Path) -> None:
    segmenter = VideoSegmenter(seed=0, max_init_sweeps=10)
    assert "No frame has been segmented yet" in segmenter._repr_html_()
    segmenter.segment(HALVES)
    segmenter.save(tmp_path / "m.npz")
    html = VideoSegmenter.load(tmp_path / "m.npz")._repr_html_()
    assert "<img" not in html
    assert Cells(html).rows == Cells(segmenter._repr_html_()).rows


def test_segments_that_were_merged_by_hand_have_the_colour_of_the_survivor() -> None:
    segmenter = VideoSegmenter(seed=0, max_init_sweeps=40)
    ids = np.unique(segmenter.segment(HALVES))
    assert len(ids) > 1
    segmenter.merge(ids)
    small = thumbnail(segmenter._repr_html_())
    assert small.shape == (20, 200, 3)
    assert np.abs(small - HALVES.mean(axis=(0, 1))).max() <= 2.0


def test_text_is_escaped() -> None:
    html = VideoSegmenter(kernel=lambda age: 0.5**age)._repr_html_()
    assert "<function" not in html
    assert "&lt;function" in html
    Cells(html)


@pytest.mark.parametrize(
    ("component", "column"), [(DiagonalGaussian(psi=9.0), "mean"), (Multinomial(), "probabilities")]
)
def test_a_mixture_shows_its_largest_clusters(component: Any, column: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.poisson(40.0 * rng.random((20, 9))[rng.integers(0, 20, 600)]).astype(float)
    model = ScStream(component, alpha=100.0, seed=0, max_init_sweeps=40).fit(X)
    assert model._sampler is not None
    html = Mixture(model._sampler)._repr_html_()
    head, *rows = Cells(html).rows
    assert head[:4] == ["id", "share", "count", column]
    assert len(rows) == 12
    assert f"the 12 largest of {model.n_clusters_} clusters" in html
    assert rows[0][:3] == [
        str(model.ids_[0]), f"{100.0 * model.weights_[0]:.1f} %", f"{model.clusters_[0].count:.6g}"
    ]  # fmt: skip
    assert len(html) < 20_000
