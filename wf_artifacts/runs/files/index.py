"""Which runs a list shows, without reading those that it does not show (`storage.lists`)."""

from collections.abc import Callable, Iterable
from typing import Final

from wf_artifacts.runs.files.folder import Found
from wf_artifacts.runs.models import RunRecord
from wf_artifacts.storage.home import Home
from wf_artifacts.storage.lists import Listed, ListIndex
from wf_core.ids import RunId

LISTED: Final = Listed(
    RunRecord,
    table="runs",
    key="run_id",
    filters=("status", "principal", "deployment_id"),
    held="running",
    version=1,
)


class RunIndex(ListIndex[RunId, RunRecord]):
    """The index of the runs of a home."""

    def __init__(self, home: Home, survey: Callable[[], Iterable[tuple[RunId, Found]]]) -> None:
        super().__init__(home, home.root / "index", LISTED, survey)
