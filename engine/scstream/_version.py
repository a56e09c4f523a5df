"""Version of the library and of the studio, which are released together."""

__version__ = "0.1.0"
