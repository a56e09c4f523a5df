"""Parameters as scikit-learn's estimators have them (`get_params`, `set_params`, ``repr``), without importing it."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


class Parametrised:
    """Object whose parameters are the arguments of its ``__init__``, each stored as given under its own name.

    ``repr`` shows the parameters that differ from their defaults.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Present for API consistency with scikit-learn: no parameter has parameters of its own.
        """
        return {name: getattr(self, name) for name in default_params(type(self))}

    def set_params(self, **params: Any) -> Self:
        """Set some parameters, as if the object had been created with them; returns the object itself."""
        current = self.get_params()
        check_names(params, current)
        other = type(self)(**{**current, **params})
        # Clearing also drops values cached from the old parameters.
        vars(self).clear()
        vars(self).update(vars(other))
        return self

    def changed(self, **params: Any) -> Self:
        """Return a new object with other values of some parameters."""
        return type(self)(**{**self.get_params(), **params})

    def __repr__(self) -> str:
        try:
            defaults = default_params(type(self))
        except TypeError:
            return object.__repr__(self)
        values = self.get_params()
        # Compare reprs: arrays have no single truth value.
        shown = [f"{name}={value!r}" for name, value in values.items() if repr(value) != repr(defaults[name])]
        return f"{type(self).__name__}({', '.join(shown)})"


def default_params(cls: type[Parametrised]) -> dict[str, Any]:
    """Names of a class's parameters with their defaults, `inspect.Parameter.empty` for those that have none."""
    # mypy takes no class for hashable.
    key: Any = cls
    return dict(_default_params(key))


# Reading a signature takes longer than most steps of a batch.
@lru_cache(64)
def _default_params(cls: type[Any]) -> dict[str, Any]:
    if cls.__init__ is object.__init__:
        return {}
    parameters = list(inspect.signature(cls).parameters.values())
    if any(parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) for parameter in parameters):
        raise TypeError(f"{cls.__name__}.__init__ must name its parameters; *args and **kwargs are not supported")
    return {parameter.name: parameter.default for parameter in parameters}


class Parameter(Generic[T]):
    """Attribute of an object with checked ``parameters``: reading returns the value, assigning calls `set_params`."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: Any, owner: type) -> T: ...

    def __get__(self, instance: Any, owner: type) -> Any:
        return self if instance is None else getattr(instance.parameters, self._name)

    def __set__(self, instance: Any, value: T) -> None:
        instance.set_params(**{self._name: value})


def check_names(given: Iterable[str], known: Iterable[str]) -> None:
    """Raise ValueError if a given name is not that of a parameter."""
    names = list(known)
    for name in given:
        if name not in names:
            raise ValueError(f"there is no parameter {name!r}; the parameters are {', '.join(names)}")
