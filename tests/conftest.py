"""Fixtures for every test."""

import pytest
from hypothesis import settings

# A busy machine is no reason to fail: how long an example takes is not what these tests ask.
settings.register_profile("wf", deadline=None, max_examples=60)
settings.register_profile("thorough", deadline=None, max_examples=5000)
settings.load_profile("wf")


@pytest.fixture
def anyio_backend() -> str:
    """Run async tests on asyncio, the loop that the server runs on."""
    return "asyncio"
