"""The index of runs fits every list of runs."""

from tests.wf_artifacts.lists import require_no_scan
from wf_artifacts.runs.files.index import LISTED


def test_no_list_passes_over_runs_or_sorts_them() -> None:
    assert LISTED.filters == ("status", "principal", "deployment_id")
    require_no_scan(LISTED)


def test_the_index_is_laid_out_as_its_version_is() -> None:
    """Processes of several versions share one: a change here is a new version."""
    columns = "run_id TEXT, status TEXT, principal TEXT, deployment_id TEXT"
    assert LISTED.version == 1
    assert LISTED.schema()[:3] == [
        f"CREATE TABLE runs ({columns}, PRIMARY KEY (run_id, status)) WITHOUT ROWID",
        "CREATE TABLE unsettled (run_id TEXT PRIMARY KEY) WITHOUT ROWID",
        "CREATE TABLE unreadable (run_id TEXT PRIMARY KEY) WITHOUT ROWID",
    ]
