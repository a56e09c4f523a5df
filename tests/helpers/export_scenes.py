"""Small results for the tests of writers, made without the engine."""

import numpy as np

from scstream import Event
from scstream.pixels.statistics import STATISTICS
from scstream_app.pipeline.frame_result import FrameResult


def leftovers(folder):
    """What an export left beside its files. Names that begin with a dot are no sign: Zarr has such files."""
    return [path for path in folder.rglob("*") if any(part in path.name for part in (".partial", ".old", ".spool"))]


def stack(results):
    """Ids (frames, H, W) of all results."""
    return np.stack([one.ids for one in results])


def statistics(rgb, ids):
    """Rows as the engine gives them, measured on the picture itself."""
    rows = np.zeros(len(np.unique(ids[ids >= 0])), STATISTICS)
    for row, id in zip(rows, np.unique(ids[ids >= 0]), strict=True):
        y, x = np.nonzero(ids == id)
        points = np.column_stack([rgb[y, x] / 255.0, y, x])
        row["id"], row["pixels"], row["share"] = id, len(y), len(y) / ids.size
        row["red"], row["green"], row["blue"] = points[:, :3].mean(axis=0)
        row["row"], row["column"] = y.mean(), x.mean()
        row["covariance"] = np.cov(points.T, bias=True)
    return rows[np.argsort(-rows["pixels"], kind="stable")]


def result(index, ids, events=(), rate=25.0, time=None, rgb=None):
    ids = np.asarray(ids, np.int32)
    if rgb is None:
        rng = np.random.default_rng(index)
        base = rng.integers(20, 236, (int(ids.max()) + 2, 3)) if ids.max() < 5000 else np.full((1, 3), 90)
        noise = rng.integers(-9, 10, (*ids.shape, 3))
        rgb = np.clip(base[ids % len(base)] + noise, 0, 255).astype(np.uint8)
    time = index / rate if time is None else time
    return FrameResult(index, time, rgb, ids, tuple(events), statistics(rgb, ids))


def split(batch, kept, new):
    return Event("split", float(batch), batch, (kept, new), 5.0, (60.0, 40.0))


def merge(batch, survivor, absorbed):
    return Event("merge", float(batch), batch, (survivor, absorbed), 4.0, (90.0, 10.0))


def birth(batch, id):
    return Event("birth", float(batch), batch, (id,), float("nan"), (50.0,))


def death(batch, id):
    return Event("death", float(batch), batch, (id,), float("nan"), (0.0,))


def story(shape=(24, 32), first=0, gap=1):
    """Five frames: a square (1) moves over ground (0) and strip (2), splits into 1 and 3, and the strip is absorbed."""
    height, width = shape
    results = []
    for step in range(5):
        ids = np.zeros(shape, np.int32)
        if step < 4:
            ids[: max(1, height // 4)] = 2
        left, top = step + width // 8, height // 3
        ids[top : top + max(1, height // 3), left : left + max(1, width // 3)] = 1
        if step >= 2:
            ids[top : top + max(1, height // 6), left : left + max(1, width // 3)] = 3
        events = {0: [birth(0, i) for i in range(3)], 2: [split(2, 1, 3)], 4: [merge(4, 0, 2)]}.get(step, [])
        results.append(result(first + step * gap, ids, events))
    return results
