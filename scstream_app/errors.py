"""Failures that a person can do something about: each message names the value at fault and the way out."""


class StudioError(Exception):
    """Base of every failure that is reported as one line, without a traceback."""


class SourceError(StudioError):
    """A source cannot be opened or read on."""


class ExportError(StudioError):
    """A result cannot be written."""


class SettingsError(StudioError, ValueError):
    """A setting has a value that makes no sense."""


class SessionError(StudioError):
    """A session cannot be opened, read or written."""


class EvaluationError(StudioError):
    """Predictions and truth cannot be compared."""


class PipelineError(StudioError):
    """Segmenting stopped at a frame; the reason is the exception's cause."""

    def __init__(self, message: str, frame: int) -> None:
        super().__init__(message)
        self.frame = frame


def reason(error: BaseException) -> str:
    """The cause in a few words, without the path and the number that the system puts around it."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(text).rstrip(".")
