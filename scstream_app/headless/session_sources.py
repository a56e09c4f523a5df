"""Which sources of sessions are opened unasked."""

from __future__ import annotations

from scstream_app.addresses import is_remote, public_address
from scstream_app.errors import SessionError
from scstream_app.session import Session


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
