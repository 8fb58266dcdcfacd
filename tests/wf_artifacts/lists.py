"""What a list costs that is read by an index."""

import sqlite3
from itertools import chain, combinations
from typing import Any

from wf_artifacts.storage.lists import Listed


def require_no_scan(listed: Listed[Any]) -> None:
    """Accept an index in which no list passes over records or sorts them: 20 of 100,000 cost what 20 of 100 cost."""
    database = sqlite3.connect(":memory:")
    for statement in listed.schema():
        database.execute(statement)
    sizes = range(len(listed.filters) + 1)
    for chosen in chain.from_iterable(combinations(listed.filters, size) for size in sizes):
        parameters = dict.fromkeys((*chosen, "below"), "x")
        statement = listed.newest(chosen, ["below"])
        plan: list[str] = [row[3] for row in database.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)]
        searches = [step for step in plan if step.startswith(f"SEARCH {listed.table}")]
        assert len(searches) == 1
        assert all(f"{name}=?" in searches[0] for name in chosen)
        assert f"{listed.key}<?" in searches[0]
        assert not any("SCAN" in step or "B-TREE" in step for step in plan)
    database.close()
