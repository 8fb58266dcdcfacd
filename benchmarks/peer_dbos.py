"""DBOS on a chain of steps over SQLite. Runs in the environment of the peers; prints the seconds as JSON."""

import json
import logging
import sys
import tempfile
import time

from dbos import DBOS

logging.disable(logging.CRITICAL)


@DBOS.step()
def step(value: int) -> int:
    return value + 1


@DBOS.workflow()
def chain(length: int) -> int:
    value = 0
    for _ in range(length):
        value = step(value)
    return value


def main(length: int) -> float:
    with tempfile.TemporaryDirectory(dir=".") as folder:
        DBOS(config={"name": "bench", "system_database_url": f"sqlite:///{folder}/steps.db", "log_level": "CRITICAL"})
        DBOS.launch()
        chain(10)
        began = time.perf_counter()
        result = chain(length)
        took = time.perf_counter() - began
        DBOS.destroy()
    assert result == length
    return took


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]))))
