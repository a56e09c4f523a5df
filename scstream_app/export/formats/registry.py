"""All formats by name, found in the modules of this package and its folders."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType

from scstream_app.export import formats
from scstream_app.export.writer import GROUPS, Writer
from scstream_app.render.views import VIEWS


def find_formats() -> dict[str, type[Writer]]:
    """Import all modules of the package and collect their formats: the public classes that derive from `Writer`.

    The formats are sorted by group, position and title. Raises ValueError if two formats have one name, if a format
    lacks an attribute that it must have, or if its group or view is unknown.
    """
    writers = [writer for module in _modules() for writer in _writers(module)]
    for writer in writers:
        _check(writer)
    found: dict[str, type[Writer]] = {}
    for writer in sorted(writers, key=_place):
        if writer.format in found:
            raise ValueError(f"two formats are called '{writer.format}': {found[writer.format]} and {writer}")
        found[writer.format] = writer
    return found


def _modules() -> Iterator[ModuleType]:
    for module in pkgutil.walk_packages(formats.__path__, f"{formats.__name__}."):
        if not module.ispkg and module.name != __name__:
            yield importlib.import_module(module.name)


def _writers(module: ModuleType) -> Iterator[type[Writer]]:
    """Yield the formats that a module defines, without aliases; its private classes are base classes."""
    for name, value in inspect.getmembers(module, inspect.isclass):
        is_own = value.__module__ == module.__name__ and value.__name__ == name
        if issubclass(value, Writer) and is_own and not name.startswith("_"):
            yield value


def _check(writer: type[Writer]) -> None:
    for name in ("format", "title", "about", "group"):
        if not getattr(writer, name, ""):
            raise ValueError(f"{writer.__module__}.{writer.__qualname__} must have the attribute '{name}'")
    for name, known in (("group", GROUPS), ("view", ("ids", *VIEWS))):
        value = getattr(writer, name)
        if value not in known:
            raise ValueError(f"the {name} of '{writer.format}' must be one of {', '.join(known)}, got '{value}'")


def _place(writer: type[Writer]) -> tuple[int, int, str]:
    return GROUPS.index(writer.group), writer.position, writer.title


#: In the order in which the help and the export dialog list them.
FORMATS: dict[str, type[Writer]] = find_formats()
