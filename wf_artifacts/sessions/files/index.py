"""Which sessions a list shows, without reading those that it does not show (`storage.lists`)."""

from collections.abc import Callable, Iterable
from typing import Final

from wf_artifacts.sessions.files.folder import Found
from wf_artifacts.sessions.models import SessionRecord
from wf_artifacts.storage.home import Home
from wf_artifacts.storage.lists import Listed, ListIndex
from wf_core.ids import SessionId

LISTED: Final = Listed(
    SessionRecord,
    table="sessions",
    key="session_id",
    filters=("status", "principal"),
    held="running",
    version=1,
)


class SessionIndex(ListIndex[SessionId, SessionRecord]):
    """The index of the sessions of a home."""

    def __init__(self, home: Home, survey: Callable[[], Iterable[tuple[SessionId, Found]]]) -> None:
        super().__init__(home, home.root / "index" / "sessions", LISTED, survey)
