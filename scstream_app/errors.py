"""Errors that the user can fix: each message names the problem and what to do about it."""


class StudioError(Exception):
    """Base class of all errors that are reported as one line, without a traceback."""


class SourceError(StudioError):
    """A source cannot be opened or read."""


class ExportError(StudioError):
    """A result cannot be written."""


class SettingsError(StudioError, ValueError):
    """A setting has an invalid value."""


class SessionError(StudioError):
    """A session cannot be opened, read or written."""


class InvalidData(SessionError, ValueError):
    """Data that a session cannot hold. The message names the problem, not the session: the caller adds that."""


class EvaluationError(StudioError):
    """Predictions and ground truth cannot be compared."""


class ClusterError(StudioError):
    """Clips cannot run side by side: Dask is missing, or its scheduler or workers are."""


class PipelineError(StudioError):
    """Segmentation failed at ``frame``; the cause of the exception is the reason."""

    def __init__(self, message: str, frame: int) -> None:
        super().__init__(message)
        self.frame = frame


def reason(error: BaseException) -> str:
    """Short reason of an error, without the path and error number that the system adds."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(text).rstrip(".")
