"""Final labels: the kernels against plain twins, pieces that neighbours absorb, labels that hold."""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt
import pytest
from scipy import ndimage

from reference import gaussian_row
from scstream import kernels
from scstream.components.gaussian import Whitened
from scstream.kernels.basics.layout import uint
from scstream.kernels.final_labels.connected_pieces import PARENT, ROW, SIZE, START, STOP, Pieces
from scstream.kernels.final_labels.held_labels import score_points
from scstream.pixels.pieces import find_pieces
from scstream.pixels.tiles import Tiles, pack
from scstream.threads import queue_of, run_queue

Array = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int32]
Forms = npt.NDArray[np.float32]
Frame = npt.NDArray[np.uint8]

SIZES = [(1, 1), (1, 50), (50, 1), (2, 2), (16, 16), (17, 33), (48, 80), (5, 300)]


def queue(n: int, pieces: int = 7) -> kernels.Queue:
    return queue_of(np.linspace(0, n, pieces + 1).astype(int))


def noise(size: tuple[int, int], seed: int = 0) -> Frame:
    return np.random.default_rng(seed).integers(0, 256, (*size, 3)).astype(np.uint8)


def patches(size: tuple[int, int], n_labels: int, seed: int, grain: float) -> Labels:
    """A random map of labels: single pixels with no grain, larger pieces with more."""
    fields = np.random.default_rng(seed).normal(size=(n_labels, *size))
    return np.argmax([ndimage.gaussian_filter(field, grain) for field in fields], axis=0).astype(np.int32)


def random_forms(points: Array, K: int, rng: np.random.Generator, dof: float = 0.0) -> Forms:
    """Forms around random points, wide enough for most pixels to be undecided."""
    A = np.tril(rng.normal(0.0, 0.5, (K, 5, 5)), -1) + 2.0 * np.eye(5)
    centre = points[rng.integers(0, len(points), K)]
    b = -np.einsum("kij,kj->ki", A, centre)
    return pack(Whitened(A, b, rng.normal(0.0, 1.0, K), np.full(K, dof)), np.zeros(K))


def score_all(forms: Forms, points: Array) -> Array:
    """Scores (N, K) of points, in double precision."""
    forms = forms.astype(np.float64)
    lower, scores = np.tril_indices(5), []
    for form in forms:
        A = np.zeros((5, 5))
        A[lower] = form[:15]
        q = np.square(points @ A.T + form[15:20]).sum(axis=1)
        scores.append(form[20] - (form[21] * np.log1p(q) if form[21] > 0 else q))
    return np.stack(scores, axis=1)


# --- scores


@numba.njit
def scores_of(points, form, out):  # type: ignore[no-untyped-def]
    score_points(form, uint(0), uint(points.shape[1]), points, out)


@pytest.mark.parametrize("dof", [0.0, 1.5, 40.0, 1e5])
def test_the_score_of_a_point_is_close_to_that_in_double_precision(dof: float) -> None:
    rng = np.random.default_rng(1)
    points = Tiles(noise((20, 20))).points()
    columns = np.ascontiguousarray(points.T.astype(np.float32))
    for form in random_forms(points, 30, rng, dof):
        out = np.empty(len(points), np.float32)
        scores_of(columns, form, out)
        np.testing.assert_allclose(out, score_all(form[None], points)[:, 0], rtol=1e-4, atol=1e-3)


# --- names


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("threads", [1, 4])
def test_labels_are_translated_one_by_one(size: tuple[int, int], threads: int) -> None:
    rng = np.random.default_rng(2)
    labels, table = rng.integers(0, 9, size).astype(np.int32), rng.permutation(100)[:9].astype(np.int32)
    out = np.full(size, -5, np.int32)
    run_queue(threads, queue(size[0]), lambda rows: kernels.translate_labels(rows, labels, table, out))
    np.testing.assert_array_equal(out, table[labels])


# --- connected pieces


def pieces_of(labels: Labels, group: Labels) -> Labels:
    """Number of the connected piece of each pixel, by scipy."""
    out, n = np.zeros(labels.shape, np.int32), 0
    for g in np.unique(group):
        found, count = ndimage.label(group[labels] == g)
        out[found > 0] = found[found > 0] + n
        n += count
    return out


def piece_map(found: Pieces) -> Labels:
    """The first run of each pixel's piece."""
    runs = found.runs
    height, width = len(found.first) - 1, runs[:, STOP].max()
    return np.repeat(runs[:, PARENT], runs[:, STOP] - runs[:, START]).reshape(height, width)


@pytest.mark.parametrize("size", [*SIZES, (31, 9), (33, 7), (40, 1500)], ids=str)
@pytest.mark.parametrize("grain", [0.0, 0.8, 3.0])
def test_pieces_are_the_connected_components_of_each_group(size: tuple[int, int], grain: float) -> None:
    labels = patches(size, 6, 3, grain)
    group = np.array([0, 1, 1, 2, 3, 0], np.int32)
    limit = 12.5
    found, expected = find_pieces(labels, group, limit, 2), pieces_of(labels, group)
    pairs = np.unique(np.stack([piece_map(found).ravel(), expected.ravel()]), axis=1)
    assert len(np.unique(pairs[0])) == len(np.unique(pairs[1])) == pairs.shape[1]
    boxes = ndimage.find_objects(expected)
    lengths = dict(zip(found.small.tolist(), found.length.tolist(), strict=True))
    for mine, theirs in pairs.T.tolist():
        rows, columns = boxes[theirs - 1]
        assert found.runs[:, SIZE][mine] == np.count_nonzero(expected[rows, columns] == theirs)
        if found.runs[:, SIZE][mine] < limit:
            assert lengths[mine] == max(rows.stop - rows.start, columns.stop - columns.start)
    assert found.small.tolist() == [mine for mine in pairs[0].tolist() if found.runs[:, SIZE][mine] < limit]
    listed = np.full(size, -1)
    for i, piece in enumerate(found.small.tolist()):
        for run in found.listed[found.begin[i] : found.begin[i + 1]].tolist():
            row, start, stop = found.runs[run, [ROW, START, STOP]]
            listed[row, start:stop] = piece
    np.testing.assert_array_equal(listed, np.where(found.runs[:, SIZE][piece_map(found)] < limit, piece_map(found), -1))


@pytest.mark.parametrize("size", [*SIZES, (3, 17), (40, 64)], ids=str)
def test_one_label_is_one_piece_and_labels_that_all_differ_are_as_many(size: tuple[int, int]) -> None:
    n = size[0] * size[1]
    labels = np.arange(n, dtype=np.int32).reshape(size)
    one = find_pieces(np.zeros(size, np.int32), np.zeros(1, np.int32), n + 1.0)
    assert one.runs[one.small, SIZE].tolist() == [n]
    each = find_pieces(labels, np.arange(n, dtype=np.int32), 2.0)
    np.testing.assert_array_equal(piece_map(each), labels)
    assert len(each.small) == n
    # Different labels of one group make up one piece too.
    joined = find_pieces(labels, np.zeros(n, np.int32), n + 1.0)
    assert joined.runs[joined.small, SIZE].tolist() == [n]
    assert len(joined.listed) == n


def test_pieces_that_meet_late_are_one() -> None:
    """A comb: its teeth are joined in the last row only."""
    labels = np.zeros((20, 41), np.int32)
    labels[:, ::2] = 1
    labels[-1] = 1
    found = find_pieces(labels, np.arange(2, dtype=np.int32), 25.0)
    assert len(np.unique(piece_map(found)[labels == 1])) == 1
    assert len(found.small) == 20


LIMITS = {"limit": 60.0, "tiny": 15.0, "extent": 8.0, "loss": 5.0}


def absorbed(
    labels: Labels, group: Labels, pixels: Forms, forms: Forms, threads: int = 1
) -> tuple[Labels, Pieces, npt.NDArray[np.bool_]]:
    """Labels after `absorb_pieces`, the pieces before it and which are left over."""
    out, found = labels.copy(), find_pieces(labels, group, LIMITS["limit"])
    left_over = np.zeros(len(found.small), bool)
    run_queue(
        threads,
        queue(len(left_over)),
        lambda part: kernels.absorb_pieces(part, found, out, pixels, forms, *LIMITS.values(), left_over),
    )
    return out, found, left_over


@pytest.mark.parametrize("size", [(1, 400), (400, 1), (48, 80), (90, 33)], ids=str)
@pytest.mark.parametrize("grain", [0.0, 1.0, 2.5])
def test_neighbours_absorb_tiny_pieces_and_nothing_of_large_ones(size: tuple[int, int], grain: float) -> None:
    rng = np.random.default_rng(5)
    for seed in range(3):
        labels, group = patches(size, 5, seed, grain), np.array([0, 1, 2, 2, 3], np.int32)
        labels[size[0] // 2 :, size[1] // 2 :] = 0
        cut = Tiles(noise(size, seed))
        forms = random_forms(cut.points(), 5, rng)
        out, found, left_over = absorbed(labels, group, cut.pixels, forms)
        small = found.runs[:, SIZE][piece_map(found)] < LIMITS["limit"]
        np.testing.assert_array_equal(out[~small], labels[~small])
        for i, piece in enumerate(found.small.tolist()):
            mask = piece_map(found) == piece
            near = ndimage.binary_dilation(mask) & ~mask & ~small
            area, length = found.runs[:, SIZE][piece], found.length[i]
            is_line = length >= LIMITS["extent"] and length**2 >= 3 * area
            assert left_over[i] == (not near.any())
            is_kept = np.array_equal(out[mask], labels[mask])
            assert is_kept or (len(np.unique(out[mask])) == 1 and out[mask][0] in labels[near])
            if near.any() and area < LIMITS["tiny"] and not is_line:
                assert not is_kept
        for threads in (2, 4):
            np.testing.assert_array_equal(absorbed(labels, group, cut.pixels, forms, threads)[0], out)


@pytest.mark.parametrize("dof", [0.0, 30.0])
def test_the_neighbour_that_scores_best_absorbs_a_piece(dof: float) -> None:
    size, rng = (60, 60), np.random.default_rng(6)
    for seed in range(20):
        labels = np.repeat(np.arange(3, dtype=np.int32), 20)[None].repeat(60, axis=0)
        labels[28:31, 19:22] = 3
        cut = Tiles(noise(size, seed))
        forms = random_forms(cut.points(), 4, rng, dof)
        out, _, _ = absorbed(labels, np.arange(4, dtype=np.int32), cut.pixels, forms)
        scores = score_all(forms, cut.points()).reshape(*size, 4)[28:31, 19:22].sum(axis=(0, 1))
        assert set(out[28:31, 19:22].ravel()) == {int(np.argmax(scores[:2]))}


def test_a_piece_in_between_stays_if_it_would_lose_much() -> None:
    frame = np.full((60, 60, 3), 40, np.uint8)
    frame[20:26, 20:26] = 230
    labels = (frame[:, :, 0] > 100).astype(np.int32)
    cut, group = Tiles(frame), np.arange(2, dtype=np.int32)
    own, other = cut.points()[20 * 60 + 20], cut.points()[0]
    for sharpness, stays in ((1.0, False), (8.0, True)):
        A = np.diag([0.0, 0.0, sharpness, sharpness, sharpness])[None].repeat(2, axis=0)
        forms = pack(Whitened(A, -np.array([other, own]) @ A[0].T, np.zeros(2), np.zeros(2)), np.zeros(2))
        loss = float(np.diff(score_all(forms, own[None])[0])[0])
        assert (loss > LIMITS["loss"]) == stays
        out, _, _ = absorbed(labels, group, cut.pixels, forms)
        assert out[20:26, 20:26].any() == stays


@pytest.mark.parametrize("along", [0, 1])
def test_a_bright_thin_line_stays_where_a_speck_goes(along: int) -> None:
    frame = np.full((64, 64, 3), 30, np.uint8)
    frame[30, 20:40] = 250
    frame[50:53, 50:53] = 250
    frame = np.ascontiguousarray(np.swapaxes(frame, 0, along))
    labels = (frame[:, :, 0] > 100).astype(np.int32)
    cut = Tiles(frame)
    dark, bright = cut.points()[0], cut.points()[np.flatnonzero(labels)[0]]
    A = np.diag([0.0, 0.0, 8.0, 8.0, 8.0])[None].repeat(2, axis=0)
    forms = pack(Whitened(A, -np.array([dark, bright]) @ A[0].T, np.zeros(2), np.zeros(2)), np.zeros(2))
    out = np.swapaxes(absorbed(labels, np.arange(2, dtype=np.int32), cut.pixels, forms)[0], 0, along)
    assert out[30, 20:40].all()
    assert out.sum() == 20


def test_pieces_among_small_pieces_follow_their_largest_neighbour() -> None:
    labels = np.zeros((40, 40), np.int32)
    labels[10:16, 10:16] = 1
    labels[12:14, 12:14] = 2
    cut, group = Tiles(noise((40, 40))), np.arange(3, dtype=np.int32)
    forms = random_forms(cut.points(), 3, np.random.default_rng(7))
    forms[:, -2] = 0.0, -50.0, -50.0
    out, found, left_over = absorbed(labels, group, cut.pixels, forms)
    assert left_over.sum() == 1
    kernels.absorb_left_over(found, left_over, out)
    assert not out.any()


def test_a_frame_of_small_pieces_alone_keeps_its_largest() -> None:
    labels = np.zeros((5, 6), np.int32)
    labels[:, 4:] = 1
    cut = Tiles(noise((5, 6)))
    forms = random_forms(cut.points(), 2, np.random.default_rng(8))
    out, found, left_over = absorbed(labels, np.arange(2, dtype=np.int32), cut.pixels, forms)
    assert left_over.all()
    np.testing.assert_array_equal(out, labels)
    one = np.zeros((3, 3), np.int32)
    found = find_pieces(one, np.arange(1, dtype=np.int32), 60.0)
    kernels.absorb_left_over(found, np.ones(1, bool), one)
    assert not one.any()


# --- labels that hold


def held_twin(
    motion: Array, spacing: float, step: int, previous: Labels, table: Labels, pictures: tuple[Frame, Frame],
    group: Labels, scores: Array, bonus: float, contrast: float, bare: Labels,
) -> tuple[Labels, npt.NDArray[np.bool_]]:  # fmt: skip
    """Labels that hold, pixel by pixel; and the pixels whose decision is closer than rounding can tell."""
    (height, width), out = bare.shape, bare.copy()
    close = np.zeros(bare.shape, bool)
    new, old = (picture.astype(float) for picture in pictures)

    def at(y: int, x: int) -> Array:
        """Motion between the centres of the blocks, linearly; constant beyond the outermost."""
        place = [[(p + 0.5) / spacing - 0.5] for p in (y, x)]
        return np.array([ndimage.map_coordinates(motion[:, :, c], place, order=1, mode="nearest")[0] for c in (0, 1)])

    for y in range(height):
        for begin in range(0, width, 8):
            end = min(begin + 8, width)
            dy, dx = np.floor(at(y, begin + 4) + 0.5).astype(int)
            if not (0 <= y + dy < height and begin + dx >= 0 and end + dx <= width):
                continue
            for x in range(begin, end):
                had, label = table[previous[y + dy, x + dx]], bare[y, x]
                if had < 0 or group[had] == group[label]:
                    continue
                change = new[y // step, x // step] - old[(y + dy) // step, (x + dx) // step]
                gain = scores[y, x, had] + bonus / (1 + contrast * change**2) - scores[y, x, label]
                close[y, x] = abs(gain) < 1e-3
                if gain > 0:
                    out[y, x] = had
    return out, close


@pytest.mark.parametrize("size", [(1, 1), (1, 37), (29, 1), (7, 5), (33, 50), (40, 64)], ids=str)
@pytest.mark.parametrize("step", [1, 3])
@pytest.mark.parametrize("dof", [0.0, 25.0])
def test_labels_hold_as_those_of_a_plain_loop(size: tuple[int, int], step: int, dof: float) -> None:
    rng = np.random.default_rng([9, *size, step])
    K, spacing = 6, 8.0 * step
    cut = Tiles(noise(size))
    forms = random_forms(cut.points(), K, rng, dof)
    blocks = [max(1, int(n // spacing)) for n in size]
    motion = np.tile(rng.integers(-3, 4, 2), (*blocks, 1)).astype(np.float32)
    bare, previous = (rng.integers(0, n, size).astype(np.int32) for n in (K, 5))
    table = np.array([3, -1, 0, 5, 2], np.int32)
    group = np.array([0, 1, 2, 2, 4, 0], np.int32)
    pictures = [rng.integers(90, 130, [-(-n // step) for n in size]).astype(np.uint8) for _ in range(2)]
    bonus, contrast = 4.0, 1.0 / 144.0
    scores = score_all(forms, cut.points()).reshape(*size, K)
    expected, close = held_twin(
        motion, spacing, step, previous, table, (pictures[0], pictures[1]), group, scores, bonus, contrast, bare
    )
    for threads in (1, 3):
        out = bare.copy()
        run_queue(
            threads,
            queue(size[0]),
            lambda rows, out=out: kernels.hold_labels(
                rows, motion, spacing, step, previous, table, *pictures, group, cut.pixels, forms,
                np.float32(bonus), np.float32(contrast), bare, out,
            ),
        )  # fmt: skip
        np.testing.assert_array_equal(np.where(close, 0, out), np.where(close, 0, expected))
    assert close.mean() < 0.05
    if size == (40, 64):
        assert 0.1 < (expected != bare).mean() < 0.9


def test_motion_between_two_blocks_is_interpolated() -> None:
    """The labels of the frame before are columns: each pixel has the one its displacement leads to."""
    size, spacing = (16, 96), 16.0
    motion = np.zeros((1, 6, 2), np.float32)
    motion[0, :, 1] = [0, 0, 4, 8, 8, 8]
    previous = np.tile(np.arange(96, dtype=np.int32), (16, 1))
    cut = Tiles(noise(size))
    forms = np.zeros((97, kernels.FORM), np.float32)
    bare = np.full(size, 96, np.int32)
    out = bare.copy()
    still = np.zeros(size, np.uint8)
    kernels.hold_labels(
        queue(16), motion, spacing, 1, previous, np.arange(96, dtype=np.int32), still, still,
        np.arange(97, dtype=np.int32), cut.pixels, forms, np.float32(1.0), np.float32(1.0), bare, out,
    )  # fmt: skip
    shift = (out - np.arange(96))[:, :88]
    np.testing.assert_array_equal(shift, np.tile(shift[0], (16, 1)))
    centre = np.arange(4.5, 88, 8)
    expected = np.interp(centre, spacing * (np.arange(6) + 0.5), motion[0, :, 1])
    np.testing.assert_allclose(shift[0, ::8], expected, atol=0.51)
    # A span that would end outside the frame before keeps its labels.
    assert (out[:, 88:] == 96).all()


# --- statistics


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("threads", [1, 3])
def test_changes_are_the_difference_of_two_counts(size: tuple[int, int], threads: int) -> None:
    rng = np.random.default_rng(10)
    K, cut = 5, Tiles(noise(size))
    bare, labels = (rng.integers(0, K, size).astype(np.int32) for _ in range(2))
    labels[::2] = bare[::2]
    parts = np.zeros((7, K, kernels.PIXEL_P))
    run_queue(threads, queue(size[0]), lambda rows: kernels.sum_changes(rows, cut.pixels, bare, labels, parts))
    points = cut.points()
    expected = [
        gaussian_row(points, 1.0 * (labels.ravel() == k)) - gaussian_row(points, 1.0 * (bare.ravel() == k))
        for k in range(K)
    ]
    np.testing.assert_allclose(parts.sum(axis=0), expected, atol=1e-9)
