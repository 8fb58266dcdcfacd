"""What every claim is."""

import pytest

from wf_artifacts.storage.claims import Releasable

pytestmark = pytest.mark.anyio


class Right(Releasable):
    def __init__(self) -> None:
        self.released = 0

    async def release(self) -> None:
        self.released += 1


async def test_a_claim_is_given_back_at_the_end_of_its_block_and_not_before() -> None:
    async with Right() as right:
        assert right.released == 0
    assert right.released == 1


async def test_a_claim_is_given_back_where_its_block_fails_too() -> None:
    right = Right()
    with pytest.raises(LookupError):
        async with right:
            raise LookupError
    assert right.released == 1
