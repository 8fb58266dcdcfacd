"""Sessions on every backend."""

from collections.abc import AsyncIterator

import pytest

from wf_artifacts.sessions.store import SessionStore
from wf_artifacts.stores import composite_sessions, open_stores


@pytest.fixture(params=["memory", "file", "sqlite", "postgres", "composite"])
async def sessions(request: pytest.FixtureRequest) -> AsyncIterator[SessionStore]:
    """A store that keeps nothing yet."""
    kind = "file" if request.param == "composite" else request.param
    async with open_stores(request.getfixturevalue(kind)) as stores, open_stores("memory://") as other:
        yield composite_sessions(stores.sessions, other.sessions) if kind != request.param else stores.sessions
