"""Fixtures for every test."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """Run async tests on asyncio, the loop that the server runs on."""
    return "asyncio"
