"""All formats by name, found in the modules of this package."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType

from scstream_app.export import formats
from scstream_app.export.writer import GROUPS, Writer


def find_formats() -> dict[str, type[Writer]]:
    """Import all modules of the package and collect their formats: the public classes that derive from `Writer`.

    The formats are sorted by group, position and title. Raises ValueError if two formats have one name or a format has
    an unknown group.
    """
    found: dict[str, type[Writer]] = {}
    for writer in sorted((writer for module in _modules() for writer in _writers(module)), key=_place):
        if writer.format in found:
            raise ValueError(f"two formats are called '{writer.format}': {found[writer.format]} and {writer}")
        found[writer.format] = writer
    return found


def _modules() -> Iterator[ModuleType]:
    for module in pkgutil.iter_modules(formats.__path__, f"{formats.__name__}."):
        if module.name != __name__:
            yield importlib.import_module(module.name)


def _writers(module: ModuleType) -> Iterator[type[Writer]]:
    """Yield the formats that a module defines; its private classes are base classes."""
    for name, value in inspect.getmembers(module, inspect.isclass):
        if issubclass(value, Writer) and value.__module__ == module.__name__ and not name.startswith("_"):
            yield value


def _place(writer: type[Writer]) -> tuple[int, int, str]:
    if writer.group not in GROUPS:
        raise ValueError(f"the group of '{writer.format}' must be one of {', '.join(GROUPS)}, got '{writer.group}'")
    return GROUPS.index(writer.group), writer.position, writer.title


#: In the order in which the help and the export dialog list them.
FORMATS: dict[str, type[Writer]] = find_formats()
