"""ScStream Studio: the program around the `scstream` library."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("scstream-studio")
except PackageNotFoundError:  # Run from a checkout that was never installed.
    __version__ = "0+unknown"
