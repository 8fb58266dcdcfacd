"""Fixtures of the server's tests."""

import pytest

from tests.wf_mcp.server.connected import Era


@pytest.fixture(params=["2025-11-25", "2026-07-28"])
def era(request: pytest.FixtureRequest) -> Era:
    """Ask the same of the server in each protocol era."""
    return request.param
