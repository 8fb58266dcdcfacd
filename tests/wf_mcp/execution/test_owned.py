"""Work that a request asks for and does not own."""

import anyio
import pytest

from wf_mcp.execution.owned import ShuttingDown, owned

pytestmark = pytest.mark.anyio


async def test_the_result_comes_back() -> None:
    async def act() -> int:
        return 7

    async with anyio.create_task_group() as tasks:
        assert await owned(tasks, act) == 7


async def test_an_error_is_raised_where_the_work_was_asked_for_and_nowhere_else() -> None:
    async def act() -> None:
        raise LookupError("nothing there")

    async with anyio.create_task_group() as tasks:
        with pytest.raises(LookupError, match="nothing there"):
            await owned(tasks, act)


async def test_who_asked_may_leave_and_the_work_goes_on() -> None:
    begun, go_on, done = anyio.Event(), anyio.Event(), anyio.Event()

    async def act() -> None:
        begun.set()
        await go_on.wait()
        done.set()

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            async with anyio.create_task_group() as request:
                request.start_soon(owned, tasks, act)
                await begun.wait()
                request.cancel_scope.cancel()
            go_on.set()
            await done.wait()


async def test_the_end_of_the_program_is_an_error_to_those_who_wait() -> None:
    begun = anyio.Event()

    async def act() -> None:
        begun.set()
        await anyio.sleep_forever()

    async def ask(tasks: anyio.abc.TaskGroup) -> None:
        with pytest.raises(ShuttingDown):
            await owned(tasks, act)
        heard.set()

    heard = anyio.Event()
    with anyio.fail_after(5):
        async with anyio.create_task_group() as requests, anyio.create_task_group() as tasks:
            requests.start_soon(ask, tasks)
            await begun.wait()
            tasks.cancel_scope.cancel()
        assert heard.is_set()
