"""The mixture of a stream, with the parameters it goes by: what clusters points and what segments video share."""

from __future__ import annotations

import inspect
import math
import os
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from scstream import persistence
from scstream.checks import check_choice, check_integer, check_number
from scstream.components import Component
from scstream.components.base import Array
from scstream.sampler.forgetting import KERNELS, Kernel
from scstream.sampler.genealogy import Event, Genealogy
from scstream.sampler.sampler import Sampler
from scstream.sampler.sweep import Batch, Settings
from scstream.stored import mapping, section, stored_component, stored_genealogy, stored_state


@dataclass(frozen=True, slots=True)
class Cluster:
    """A live cluster: its id, time-weighted number of points, share of the whole, and its component's summary."""

    id: int
    count: float
    share: float
    summary: dict[str, Array]


#: Parameters that are not saved as such: the component has an entry of its own, and threads are the machine's affair.
_UNSAVED = ("component", "threads")


class Mixture:
    """Parameters, the clusters that are alive, and how they are saved; parameters and attributes as in `ScStream`.

    It does without scikit-learn, which takes most of a second to import.
    """

    n_features_in_: int
    _sampler: Sampler

    def __init__(
        self,
        component: Component | None = None,
        *,
        alpha: float = 1.0,
        decay: float = 1.0,
        kernel: str | Kernel = "exponential",
        epsilon: float = 1e-8,
        sweeps: int = 1,
        burn_in: int = 5,
        max_init_sweeps: int = 200,
        split_last: bool = True,
        restart: int | None = 60,
        merge: str = "original",
        follow: str = "nothing",
        seed: int | None = None,
        threads: int | None = None,
    ) -> None:
        self.component = component
        self.alpha = alpha
        self.decay = decay
        self.kernel = kernel
        self.epsilon = epsilon
        self.sweeps = sweeps
        self.burn_in = burn_in
        self.max_init_sweeps = max_init_sweeps
        self.split_last = split_last
        self.restart = restart
        self.merge = merge
        self.follow = follow
        self.seed = seed
        self.threads = threads

    @property
    def parameters(self) -> dict[str, Any]:
        """All of them by name."""
        return {name: getattr(self, name) for name in _PARAMETERS}

    def set_parameters(self, **values: Any) -> None:
        """Give some of them other values, which are not checked."""
        for name in values:
            if name not in _PARAMETERS:
                raise ValueError(f"there is no parameter {name!r}; there are {', '.join(_PARAMETERS)}")
        self.__dict__.update(values)

    @property
    def _started(self) -> bool:
        return "_sampler" in self.__dict__

    def _begin(self, component: Component, batch: Batch, time: float, number: int = 0) -> None:
        self._sampler = Sampler.begin(self._settings(), component, batch, time, number)

    def _settings(self) -> Settings:
        return Settings(
            log_alpha=math.log(self.alpha),
            kernel=self.kernel if callable(self.kernel) else KERNELS[self.kernel](float(self.decay)),
            epsilon=float(self.epsilon),
            sweeps=int(self.sweeps),
            burn_in=int(self.burn_in),
            split_last=bool(self.split_last),
            patience=None if self.restart is None else int(self.restart),
            merge=self.merge,
            follow=self.follow,
            seed=int(self.seed or 0),
        )

    # --- checks

    def _check_parameters(self) -> None:
        check_number("alpha", self.alpha, 0.0, strict=True)
        check_number("decay", self.decay, 0.0)
        check_number("epsilon", self.epsilon, 0.0, 1.0)
        check_integer("sweeps", self.sweeps, 0)
        check_integer("burn_in", self.burn_in, 0)
        check_integer("max_init_sweeps", self.max_init_sweeps, 1)
        if self.restart is not None:
            check_integer("restart", self.restart, 0)
        if self.seed is not None:
            check_integer("seed", self.seed, 0)
        if self.threads is not None:
            check_integer("threads", self.threads, 1)
        if not callable(self.kernel):
            check_choice("kernel", self.kernel, KERNELS)
        check_choice("merge", self.merge, ("original", "paper"))
        check_choice("follow", self.follow, ("nothing", "clusters", "halves"))
        if self.component is not None and not isinstance(self.component, Component):
            raise TypeError(f"component must be a scstream Component, got {self.component!r}")

    def _check_time(self, time: float | None) -> float:
        if time is None:
            return self._sampler.time + 1.0 if self._started else 0.0
        check_number("time", time)
        if self._started and time <= self._sampler.time:
            raise ValueError(f"time must increase: the last batch came at {self._sampler.time:g}, got {time!r}")
        return float(time)

    # --- what was found

    def _latest(self) -> Array:
        """Time-weighted statistics as of the last batch."""
        return self._sampler.state.total

    def _sampler_checked(self) -> Sampler:
        if not self._started:
            raise RuntimeError("no frame or batch has been taken in yet")
        return self._sampler

    @property
    def n_clusters_(self) -> int:
        return len(self._sampler_checked().state.ids)

    @property
    def clusters_(self) -> list[Cluster]:
        sampler = self._sampler_checked()
        S = self._latest().sum(axis=1)
        whole = max(float(S[:, 0].sum()), 1e-300)
        order = np.argsort(-S[:, 0], kind="stable")
        return [
            Cluster(int(sampler.state.ids[k]), float(S[k, 0]), float(S[k, 0] / whole), sampler.component.summary(S[k]))
            for k in order
        ]

    @property
    def events_(self) -> list[Event]:
        return list(self._sampler_checked().events)

    @property
    def genealogy_(self) -> Genealogy:
        return self._sampler_checked().genealogy

    @property
    def log_posterior_(self) -> float:
        return self._sampler_checked().log_posterior

    # --- saving

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to an npz file of plain arrays; a loaded model continues bit by bit alike.

        ``threads`` is left out: it belongs to the machine, not to the model.
        """
        persistence.write(path, *self._pack())

    def _pack(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        sampler = self._sampler_checked()
        if callable(self.kernel):
            raise ValueError("a model with a kernel of your own cannot be saved: only named kernels can be loaded")
        state = sampler.state
        parameters = {name: _plain(value) for name, value in self.parameters.items() if name not in _UNSAVED}
        meta = {
            "parameters": parameters,
            "component": sampler.component.name,
            "n_features": int(self.n_features_in_),
            "time": sampler.time,
            "batch": state.batch,
            "log_posterior": sampler.log_posterior,
            "events": [event.as_dict() for event in sampler.events],
            "pending": [event.as_dict() for event in sampler.pending],
            "locked": sorted(state.locked),
        }
        arrays: dict[str, npt.NDArray[Any]]
        arrays = {f"prior.{name}": value for name, value in sampler.component.hyperparameters().items()}
        arrays |= {f"genealogy.{name}": value for name, value in sampler.genealogy.state().items()}
        arrays |= {
            "times": np.array(state.history.times),
            "records": state.history.records,
            "ids": state.ids,
            "age": state.age,
            "rest": state.rest,
            "born": state.born,
        }
        return meta, arrays

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that `save` wrote."""
        meta, arrays = persistence.read(path)
        try:
            return cls._unpack(meta, arrays)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise persistence.ModelFileError(f"Cannot load '{path}': damaged ({error})") from error

    @classmethod
    def _unpack(cls, meta: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> Self:
        """The model that `_pack` took apart; a ValueError if it was none, whatever else is in there."""
        try:
            return cls._put_together(meta, arrays)
        except (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError) as error:
            raise ValueError(f"{type(error).__name__}: {error}") from error

    @classmethod
    def _put_together(cls, meta: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> Self:
        strange = sorted(name for name, array in arrays.items() if array.dtype.kind not in "iuf")
        if strange:
            raise ValueError(f"'{strange[0]}' holds no numbers")
        component = stored_component(meta, arrays)
        stored = mapping(meta, "parameters").items()
        model = cls(component=component, **{name: value for name, value in stored if name not in _UNSAVED})
        model._check_parameters()
        model.n_features_in_ = meta["n_features"]
        settings = model._settings()
        state = stored_state(meta, arrays, component, settings.kernel)
        check_number("time", meta["time"], low=state.history.times[-1])
        model._sampler = Sampler(
            settings,
            component,
            state,
            stored_genealogy(section(arrays, "genealogy."), state.ids),
            float(meta["time"]),
            np.repeat(state.ids, 2),
            [Event.from_dict(event) for event in meta["events"]],
            float(meta["log_posterior"]),
            [Event.from_dict(event) for event in meta.get("pending", ())],
        )
        return model


_PARAMETERS = tuple(inspect.signature(Mixture).parameters)


def _plain(value: Any) -> Any:
    """A number of numpy's as Python's own, which JSON can hold."""
    return value.item() if isinstance(value, np.generic) else value
