"""ScStream Studio: the program around the `scstream` library."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    __version__: str


def __getattr__(name: str) -> str:
    # On first use: what reads the version takes as long to import as the whole command line.
    if name != "__version__":
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from importlib.metadata import PackageNotFoundError, version

    try:
        found = version("scstream-studio")
    except PackageNotFoundError:  # Run from a checkout that was never installed.
        found = "0+unknown"
    globals()["__version__"] = found
    return found
