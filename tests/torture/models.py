"""Damaged model files: each is refused with a message, or gives a model that segments."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import numpy as np

from scstream_app.errors import StudioError
from scstream_app.session.model_transfer import load
from scstream_app.sources import open_source
from torture.mutations import Rng, damaged, damaged_json
from torture.outcome import Outcome
from torture.sandbox import Sandbox
from torture.scene import Scene

_SHAPES: tuple[Any, ...] = ((), (0,), (1,), (3, 3), (2, 0, 5), (1, 1, 1, 1, 1))
_TYPES = ("f8", "f4", "i8", "u1", "?", "c16", "S5", "U3", "M8[s]", ">f8")


class Models:
    """Mutants of a snapshot of the model."""

    name = "models"

    def __init__(self, scene: Scene, seed: int) -> None:
        self._scene, self._seed = scene, seed

    def prepare(self) -> None:
        """There is nothing to prepare beyond the scene."""

    def run(self, case: int, sandbox: Sandbox) -> Outcome:
        """Damage a model file, load it, and segment a frame with it."""
        rng = np.random.default_rng([self._seed, 2, case])
        files = sorted((self._scene.folder / "interrupted.scstream" / "models").glob("*.npz"))
        data = files[int(rng.integers(len(files)))].read_bytes()
        path = sandbox.folder / "model.npz"
        path.write_bytes(_KINDS[case % len(_KINDS)](data, rng))
        outcome = Outcome()
        try:
            model = load(path)
            with open_source(str(self._scene.clip)) as source:
                frame = source.read()
                assert frame is not None
                model.set_params(threads=1)
                model.segment(frame.rgb)
        except (StudioError, ValueError) as error:
            # What a model says about the frame is a ValueError with a message: it may be of another size.
            if not isinstance(error, StudioError) and not _names_the_problem(error):
                raise
            outcome.refused = 1
        else:
            outcome.opened = 1
        return outcome


def _names_the_problem(error: ValueError) -> bool:
    return any(word in str(error) for word in ("must", "has", "frame"))


def _bytes(data: bytes, rng: Rng) -> bytes:
    return damaged(data, rng)


def _entries(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _archive(entries: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return target.getvalue()


def _entry(data: bytes, rng: Rng) -> bytes:
    """One array damaged inside a sound archive."""
    entries = _entries(data)
    name = sorted(entries)[int(rng.integers(len(entries)))]
    entries[name] = damaged(entries[name], rng)
    return _archive(entries)


def _array(data: bytes, rng: Rng) -> bytes:
    """One array of another shape or type, with values that no model has, or missing."""
    entries = _entries(data)
    name = sorted(entries)[int(rng.integers(len(entries)))]
    if rng.random() < 0.15:
        del entries[name]
        return _archive(entries)
    array = np.load(io.BytesIO(entries[name]), allow_pickle=False)
    kind = rng.random()
    if kind < 0.3:
        array = np.zeros(_SHAPES[int(rng.integers(len(_SHAPES)))], array.dtype)
    elif kind < 0.5:
        array = np.zeros(array.shape, _TYPES[int(rng.integers(len(_TYPES)))])
    elif array.dtype.kind in "fiu" and array.size:
        array = array.copy()
        wrong = [np.nan, np.inf, -1e300, 0.0] if array.dtype.kind == "f" else [0, np.iinfo(array.dtype).max]
        array.flat[rng.integers(0, array.size, 1 + array.size // 3)] = wrong[int(rng.integers(len(wrong)))]
    target = io.BytesIO()
    np.save(target, array, allow_pickle=False)
    return _archive({**entries, name: target.getvalue()})


def _text(data: bytes, rng: Rng) -> bytes:
    """One value of the JSON text replaced."""
    entries = _entries(data)
    for name, content in entries.items():
        array = np.load(io.BytesIO(content), allow_pickle=False)
        raw = array.tobytes() if array.dtype == np.uint8 else str(array).encode() if array.dtype.kind == "U" else b""
        if not raw.lstrip().startswith(b"{"):
            continue
        text = json.dumps(damaged_json(json.loads(raw), rng))
        changed = np.frombuffer(text.encode(), np.uint8) if array.dtype == np.uint8 else np.array(text)
        target = io.BytesIO()
        np.save(target, changed, allow_pickle=False)
        return _archive({**entries, name: target.getvalue()})
    raise AssertionError("a model file has no JSON text")


_KINDS = (_bytes, _entry, _array, _text)
