"""What processes that share a catalog can do to it, held against every backend."""

from tests.wf_artifacts.children import children
from tests.wf_artifacts.conftest import Shared


def test_processes_that_save_at_once_never_get_the_same_number(shared: Shared) -> None:
    numbers = [number for answers in children("versions", shared.url) for number in answers]
    assert sorted(numbers) == list(range(1, len(numbers) + 1))
