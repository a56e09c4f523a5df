"""Model files: an npz archive of plain arrays and one JSON text. Reading one never executes code from it."""

from __future__ import annotations

import json
import math
import os
import secrets
import stat
import zipfile
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scstream import archive
from scstream.checks import check_integer, check_number
from scstream.components import BY_NAME, Component, DiagonalGaussian, Gaussian, PixelGaussian
from scstream.components.base import is_built_in, is_registered
from scstream.errors import ModelFileError
from scstream.params import check_names, default_params
from scstream.sampler.forgetting import Kernel
from scstream.sampler.genealogy import Event, Genealogy
from scstream.sampler.history import History
from scstream.sampler.parameters import Parameters
from scstream.sampler.recent import RecentPoints
from scstream.sampler.sampler import LONGEST_WAIT, Sampler
from scstream.sampler.sweep import State

FORMAT = "scstream-model"
#: Earlier versions are still read. Version 1 has statistics relative to zero, and the component "gaussian" for pixels;
#: version 2 has no hidden clusters and no final labels; version 3 has no resolution of Gaussian clusters.
VERSION = 4

Pathish = str | os.PathLike[str]
Meta = dict[str, Any]
Arrays = dict[str, npt.NDArray[Any]]

#: Parameters that a file holds: all but the number of threads, which depends on the machine.
_SAVED = tuple(field.name for field in fields(Parameters) if field.name != "threads")

#: Maximum number of features of a custom component.
_MAX_FEATURES = 2**24
#: Maximum number of ids in a genealogy, which keeps a few hundred bytes of each.
_MAX_IDS = 2**21
#: Maximum number of bytes of the JSON text, which may take twenty times as much memory.
_MAX_TEXT = 2**24
#: Upper bound of batch numbers and ids in a file, so that counting on from them never overflows.
_MAX_COUNT = 2**62
#: Counts may be this much below zero, from rounding.
_ROUNDING = 1e-6


# --- models


def save(
    path: Pathish,
    sampler: Sampler,
    config: Parameters,
    n_features: int,
    extra: Mapping[str, Any] | None = None,
    labels: npt.NDArray[np.int64] | None = None,
    final: Mapping[str, npt.NDArray[Any]] | None = None,
) -> None:
    """Write a sampler to a model file.

    Parameters
    ----------
    path : path
    sampler : Sampler
    config : Parameters
        Parameters to save; a loaded sampler continues with these.
    n_features : int
    extra : mapping, optional
        Further entries of the JSON text, which `load` returns.
    labels : array (N,) int64, optional
        Ids of the last batch's points.
    final : mapping, optional
        Arrays of a frame's final labels.
    """
    arrays = {**_arrays(sampler), **({} if labels is None else {"labels": labels})}
    arrays |= {f"final.{name}": value for name, value in (final or {}).items()}
    write(path, {**_meta(sampler, config, n_features), **(extra or {})}, arrays)


class Loaded(NamedTuple):
    """What a model file holds.

    Attributes
    ----------
    sampler : Sampler
    meta : dict
        All entries of the JSON text.
    labels : array (N,) or None
        Ids of the last batch's points.
    final : dict
        Arrays of a frame's final labels, not checked; empty if there are none.
    """

    sampler: Sampler
    meta: Meta
    labels: npt.NDArray[np.int64] | None
    final: Arrays


def load(path: Pathish) -> Loaded:
    """Read a model file.

    Raises
    ------
    ModelFileError
        If the file is not a valid model, or its component is not defined in this program.
    """
    meta, arrays = read(path)
    if meta["version"] == 1 and "video" in meta and meta.get("component") == Gaussian.name:
        meta["component"] = PixelGaussian.name
    name = meta.get("component")
    if isinstance(name, str) and name not in BY_NAME:
        raise ModelFileError(
            f"Cannot load '{path}': there is no component named {name[:60]!r} in this program. "
            "Import the module that defines it, then load the file again"
        )
    try:
        _check_feature_names(meta)
        sampler = _sampler(meta, arrays)
        if meta["version"] < 4 and "psi" in meta.get("from_data", ()):
            # That is found in the first batch wherever psi is.
            meta["from_data"].append("resolution")
        _check_from_data(meta, sampler.component)
        return Loaded(sampler, meta, _labels(arrays, sampler.genealogy), _section(arrays, "final."))
    except (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError) as error:
        kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
        raise ModelFileError(f"Cannot load '{path}': damaged ({kind}{error})") from error


def _meta(sampler: Sampler, config: Parameters, n_features: int) -> Meta:
    if callable(config.kernel):
        raise ValueError("a model with a custom kernel cannot be saved: kernel must be one of the named ones")
    return {
        "parameters": {name: _plain(getattr(config, name)) for name in _SAVED},
        "component": sampler.component.name,
        "n_features": int(n_features),
        "time": sampler.time,
        "batch": sampler.state.batch,
        "log_posterior": sampler.log_posterior,
        "events": [event.as_dict() for event in sampler.events],
        "pending": [event.as_dict() for event in sampler.pending],
        "locked": sorted(sampler.state.locked),
        "since_revision": sampler.since_revision,
        "revision_wait": sampler.revision_wait,
    }


def _plain(value: Any) -> Any:
    """The value as a type that JSON can encode: numpy's numbers become Python's."""
    return value.item() if isinstance(value, np.generic) else value


def _arrays(sampler: Sampler) -> Arrays:
    state = sampler.state
    return {
        **{f"prior.{name}": value for name, value in _hyperparameters(sampler.component).items()},
        **{f"genealogy.{name}": value for name, value in sampler.genealogy.state().items()},
        **{f"recent.{name}": value for name, value in sampler.recent.state().items()},
        "times": np.array(state.history.times),
        "records": state.history.records,
        "ids": state.ids,
        "age": state.age,
        "rest": state.subcluster_age,
        "born": state.born,
        "owner": state.owner,
        "newcomer": state.newcomer.astype(np.uint8),
    }


def _hyperparameters(component: Component) -> Arrays:
    """The component's hyperparameters; raises ValueError unless `_component` can restore the component from them."""
    component_class = type(component)
    what = f"a model with the component {component_class.__name__} cannot be saved"
    if not is_registered(component_class):
        raise ValueError(
            f"{what}: files refer to a component by its name. "
            f'Give the class one of its own, such as name = "{component_class.__name__.lower()}"'
        )
    values = {name: np.asarray(value) for name, value in component.hyperparameters().items()}
    if values.keys() != default_params(component_class).keys():
        expected = ", ".join(default_params(component_class))
        raise ValueError(f"{what}: its hyperparameters() must return the arguments of __init__, {expected}")
    for name, value in values.items():
        if value.dtype.kind not in "iuf":
            raise ValueError(f"{what}: its hyperparameters() must return numbers, got {value!r} for {name}")
    return values


def _sampler(meta: Meta, arrays: Arrays) -> Sampler:
    """The sampler that a file describes; every entry is checked before use."""
    for name, array in sorted(arrays.items()):
        if array.dtype.kind not in "iuf":
            raise ValueError(f"'{name}' is not an array of numbers")
    component = _component(meta, arrays)
    values = meta["parameters"]
    if not isinstance(values, dict):
        raise ValueError(f"'parameters' must be a mapping, got {values!r}")
    config = Parameters(**{name: value for name, value in values.items() if name not in ("component", "threads")})
    state = _state(meta, arrays, component, config.forgetting_kernel)
    check_number("time", meta["time"], low=state.history.times[-1])
    # Files without these counts are from when every revision waited for as many batches as the first.
    since = meta.get("since_revision", state.batch % (config.revise or 1))
    wait = meta.get("revision_wait", 1)
    check_integer("since_revision", since, 0, _MAX_COUNT)
    check_integer("revision_wait", wait, 1, LONGEST_WAIT)
    return Sampler(
        config,
        component,
        state,
        _genealogy(_section(arrays, "genealogy."), state),
        float(meta["time"]),
        np.repeat(state.ids, 2),
        [Event.from_dict(event) for event in meta["events"]],
        float(meta["log_posterior"]),
        [Event.from_dict(event) for event in meta.get("pending", ())],
        RecentPoints.from_state(_section(arrays, "recent."), meta["n_features"]),
        since,
        wait,
    )


def _component(meta: Meta, arrays: Arrays) -> Component:
    component_class = BY_NAME[meta["component"]]
    prior = _section(arrays, "prior.")
    if meta["version"] < 4 and issubclass(component_class, Gaussian | DiagonalGaussian):
        prior.setdefault("resolution", np.zeros(()))
    missing = default_params(component_class).keys() - prior.keys()
    if missing:
        raise ValueError(f"the prior lacks {sorted(missing)}")
    check_integer("n_features", meta["n_features"], 1, _most_features(component_class, arrays["records"]))
    unbound = component_class(**{name: value if value.ndim else value.item() for name, value in prior.items()})
    return unbound.bind(np.zeros((1, meta["n_features"])), np.ones(1))


def _most_features(component_class: type[Component], records: npt.NDArray[Any]) -> int:
    """Limit of the number of features, so that the size of the file limits what is allocated for them."""
    if not is_built_in(component_class):
        return _MAX_FEATURES
    # An empty array may state any length.
    if not records.size:
        raise ValueError("there are no records")
    # A row of statistics is longer than the number of features D; with a covariance it has more than D * D / 2 entries.
    length = records.shape[-1]
    return math.isqrt(2 * length) if issubclass(component_class, Gaussian) else length - 1


def _state(meta: Meta, arrays: Arrays, component: Component, kernel: Kernel) -> State:
    ids, age, subcluster_age, born = (_integers(arrays, name) for name in ("ids", "age", "rest", "born"))
    times, records = arrays["times"], arrays["records"].astype(np.float64)
    K = len(ids)
    if records.shape != (len(times), K, 2, component.n_statistics):
        raise ValueError(f"records of shape {records.shape} do not fit {K} clusters")
    if meta["version"] == 1:
        _centre(records, component)
    if not np.isfinite(records).all():
        raise ValueError("the records must be finite numbers")
    if (records[..., 0] < -_ROUNDING).any():
        raise ValueError("the records must not have negative counts")
    if K == 0 or any(counter.shape != (K,) for counter in (age, subcluster_age, born)):
        raise ValueError("clusters and their ages do not match")
    if times.ndim != 1 or not len(times) or not np.isfinite(times).all() or (np.diff(times) <= 0).any():
        raise ValueError("the times of the records do not increase")
    check_integer("batch", meta["batch"], 0, _MAX_COUNT)
    owner, newcomer = _owners(arrays, ids)
    return State(
        history=History.restore(times.astype(np.float64).tolist(), records, kernel),
        current=records[-1].copy(),
        ids=ids,
        age=age,
        subcluster_age=subcluster_age,
        born=born,
        batch=meta["batch"],
        locked=frozenset(int(id) for id in meta.get("locked", ())),
        owner=owner,
        newcomer=newcomer,
    )


def _owners(arrays: Arrays, ids: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Owners and newcomers among the clusters; in files of earlier versions every cluster is announced."""
    if "owner" not in arrays:
        return ids.copy(), np.zeros(len(ids), bool)
    owner, newcomer = (_integers(arrays, name) for name in ("owner", "newcomer"))
    if owner.shape != ids.shape or newcomer.shape != ids.shape or (newcomer > 1).any():
        raise ValueError("clusters and their owners do not match")
    if not np.isin(owner, ids[owner == ids]).all() or (newcomer & (owner == ids)).any():
        raise ValueError("a cluster belongs to one that is not announced")
    return owner, newcomer.astype(bool)


def _centre(records: npt.NDArray[np.float64], component: Component) -> None:
    """Shift records (R, K, 2, P) that are relative to zero to the component's origin, in place."""
    if not isinstance(component, Gaussian | DiagonalGaussian):
        return
    with np.errstate(over="ignore", invalid="ignore"):
        component.translate(records, len(records), np.tile(-component.origin, (records.shape[1], 1)))


def _genealogy(state: Arrays, clusters: State) -> Genealogy:
    """The genealogy of a file, checked for consistency with the clusters that are alive."""
    if any(column.size > _MAX_IDS for column in state.values()):
        raise ValueError(f"the genealogy has more than {_MAX_IDS} ids")
    ids, dead, pending = (_integers(state, name) for name in ("id", "dead", "pending"))
    next_id, capacity = (_integers(state, name, ndim=0) for name in ("next_id", "capacity"))
    links = [_integers(state, name, low=-1) for name in ("parent", "merged")]
    spans = [state["born"], state["died"]]
    if any(column.shape != ids.shape for column in (*links, *spans)) or state["now"].shape:
        raise ValueError("the genealogy's columns differ in length")
    for some in (ids, dead, pending, clusters.ids):
        if len(np.unique(some)) != len(some) or (some >= next_id).any():
            raise ValueError("the genealogy has duplicate ids, or ids that were never assigned")
    live = np.sort(clusters.ids[clusters.announced])
    if not np.array_equal(live, np.setdiff1d(ids, dead)) or not np.isin(dead, ids).all():
        raise ValueError("the genealogy does not match the ids that are alive")
    if not np.isin(clusters.ids[clusters.hidden], pending).all():
        raise ValueError("the genealogy does not have the ids that are not announced yet")
    if np.isin(pending, ids).any() or len(dead) > capacity:
        raise ValueError("the genealogy has ids that it should not have")
    _check_links(ids, dead, *links)
    if not np.isfinite(spans[0]).all() or not np.array_equal(np.isfinite(spans[1]), np.isin(ids, dead)):
        raise ValueError("the genealogy's times of birth and death are inconsistent")
    if np.isnan(state["now"]) or state["now"] == math.inf:
        raise ValueError(f"the genealogy's time must be a number, got {state['now']}")
    return Genealogy.from_state(state)


def _labels(arrays: Arrays, genealogy: Genealogy) -> npt.NDArray[np.int64] | None:
    """The labels of a file, checked to be ids that were assigned; None in files of earlier versions."""
    if "labels" not in arrays:
        return None
    labels = _integers(arrays, "labels")
    if (labels >= genealogy.n_ids).any():
        raise ValueError("the labels have ids that were never assigned")
    return labels


def _check_feature_names(meta: Meta) -> None:
    """Check that the names of the features, if there are any, are one string for each feature."""
    names = meta.get("feature_names")
    if names is None:
        return
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("'feature_names' must be a list of strings")
    if len(names) != meta["n_features"]:
        raise ValueError(f"there are {len(names)} names for {meta['n_features']} features")


def _check_from_data(meta: Meta, component: Component) -> None:
    """Check that what a model takes from its first batch, if that is known, are hyperparameters of its component."""
    names = meta.get("from_data", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("'from_data' must be a list of strings")
    adjusted = meta.get("adjusted", {})
    if not isinstance(adjusted, dict) or not all(type(value) in (int, float) for value in adjusted.values()):
        raise ValueError("'adjusted' must be a mapping to numbers")
    if set(names) & set(adjusted):
        raise ValueError("'adjusted' must not name what 'from_data' names")
    check_names([*names, *adjusted], default_params(type(component)))


def _check_links(
    ids: npt.NDArray[np.int64],
    dead: npt.NDArray[np.int64],
    parent: npt.NDArray[np.int64],
    merged: npt.NDArray[np.int64],
) -> None:
    """Check that links form no cycle: parents have smaller ids than children, absorbed ids die before survivors."""
    end = {int(id): order for order, id in enumerate(dead.tolist())}
    known = set(ids.tolist())
    for id, above, into in zip(ids.tolist(), parent.tolist(), merged.tolist(), strict=True):
        bad_parent = above != -1 and (above not in known or above >= id)
        bad_merge = into != -1 and (into not in known or not end.get(id, len(end)) < end.get(into, len(end)))
        if bad_parent or bad_merge:
            raise ValueError(f"the genealogy's links of id {id} are invalid")


def _integers(arrays: Arrays, name: str, low: int = 0, ndim: int = 1) -> npt.NDArray[np.int64]:
    """An array of whole numbers >= ``low``, checked."""
    array = arrays[name]
    if (
        array.dtype.kind not in "iu"
        or array.ndim != ndim
        or (array.size and not low <= array.min() <= array.max() < _MAX_COUNT)
    ):
        raise ValueError(f"'{name}' is not an array of whole numbers >= {low}")
    return array.astype(np.int64)


def _section(arrays: Arrays, prefix: str) -> Arrays:
    """Arrays whose names start with a prefix, by the rest of their names."""
    return {name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)}


# --- files


def write(path: Pathish, meta: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write a model file atomically: a reader finds the old file or the complete new one.

    Raises ValueError for a model that `read` would refuse because of its size.
    """
    target = Path(path)
    text = json.dumps({"format": FORMAT, "version": VERSION, **meta})
    if len(text) > _MAX_TEXT:
        raise ValueError(
            f"a model whose description has {len(text)} characters cannot be saved, {_MAX_TEXT} are the most"
        )
    if not target.parent.is_dir():
        raise FileNotFoundError(f"Cannot save '{target}': there is no folder '{target.parent}'")
    if target.is_dir():
        raise IsADirectoryError(f"Cannot save '{target}': it is a folder")
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        # Like any file of the user; `tempfile` would make one that nobody else may read.
        with open(temporary, "xb") as file:
            if target.exists():
                os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
            contents: dict[str, Any] = {"meta": np.frombuffer(text.encode(), np.uint8), **arrays}
            np.savez_compressed(file, **contents)
            file.flush()
            os.fsync(file.fileno())
            archive.check_size((array.size for array in arrays.values()), file.tell())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def read(path: Pathish) -> tuple[Meta, Arrays]:
    """Return the JSON text and the arrays of a model file; raises ModelFileError if format or version are wrong."""
    try:
        with open(path, "rb") as file:
            arrays = archive.read_arrays(file)
        text = arrays.pop("meta")
        if text.nbytes > _MAX_TEXT:
            raise archive.TooLarge(f"its description has {text.nbytes} bytes, and {_MAX_TEXT} are the most")
        meta = json.loads(text.tobytes().decode())
    except (FileNotFoundError, PermissionError):
        raise
    except archive.TooLarge as error:
        raise ModelFileError(f"Cannot load '{path}': {error}") from error
    except zipfile.BadZipFile as error:
        raise ModelFileError(f"Cannot load '{path}': not a ScStream model, or damaged") from error
    except (OSError, ValueError, KeyError, EOFError, AttributeError, TypeError) as error:
        raise ModelFileError(f"Cannot load '{path}': not a ScStream model, or damaged ({error})") from error
    except Exception as error:  # zlib.error and struct.error have no common base
        raise ModelFileError(f"Cannot load '{path}': damaged ({error})") from error
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise ModelFileError(f"Cannot load '{path}': not a ScStream model")
    if meta.get("version") not in range(1, VERSION + 1):
        raise ModelFileError(
            f"Cannot load '{path}': written as version {meta.get('version')}, this program reads 1 to {VERSION}"
        )
    return meta, arrays
