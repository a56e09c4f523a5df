"""Source of a session, which is opened unasked only if it is on this machine."""

from __future__ import annotations

import os

from scstream_app.addresses import has_number, is_remote, public_address, split_reading
from scstream_app.errors import SessionError, SourceError
from scstream_app.session import Session
from scstream_app.sources import Source, open_source


def local_source(session: Session) -> str:
    """Address of the session's source; raises SessionError if it is a camera or at a network address.

    A session may come from somebody else, who must not decide what this machine connects to. Besides, passwords and
    tokens are not stored in sessions.
    """
    address, facts = session.source_address, session.manifest.source
    if not is_remote(address):
        return address
    if facts.live:
        raise SessionError(
            f"Cannot read the source of '{session.path}' again: '{facts.name}' is live, its earlier frames are gone."
        )
    raise SessionError(
        f"The source of '{session.path}' is '{public_address(address)}'. A camera or a network address must be given: "
        "--source ADDRESS, with its password if it needs one."
    )


def open_local_source(session: Session) -> Source:
    """Open the session's source, see `local_source`; if its files are gone, the error names the option --source."""
    address = local_source(session)
    try:
        return open_source(address)
    except SourceError as error:
        # The pictures of a recording are inside its session.
        if session.recorded or _is_there(split_reading(address)[0].partition("\n")[0]):
            raise
        raise SourceError(f"{error} If the source of '{session.path}' was moved, add --source PATH.") from error


def _is_there(place: str) -> bool:
    """Whether a file or folder exists; of a pattern, its folder."""
    return os.path.exists(os.path.dirname(place) if has_number(os.path.basename(place)) else place)
