"""The composition root: what one program has open, from its start to its end."""

import os
import secrets
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import anyio

from wf_artifacts.clock import Clock, SystemClock
from wf_artifacts.stores import Stores, open_stores
from wf_core.ids import RUN_ID_RANDOM_BITS
from wf_mcp.config import Config, Redactor
from wf_mcp.config.place import configuration, default_home
from wf_mcp.execution.callees.opening import open_callees
from wf_mcp.execution.callees.waking import Callees
from wf_mcp.execution.means import Means
from wf_mcp.execution.runners import deployment_runners
from wf_mcp.execution.runs import RunDriver
from wf_mcp.execution.sessions.driver import SessionDriver
from wf_mcp.execution.sessions.opening import session_means
from wf_mcp.sources.registry import SourceRegistry

_CHANCE = secrets.SystemRandom()


@dataclass(frozen=True, slots=True)
class App:
    """Everything that the operations work with. Open one with `App.open`."""

    home: Path
    config: Config
    clock: Clock
    redactor: Redactor
    stores: Stores
    registry: SourceRegistry
    runs: RunDriver
    sessions: SessionDriver
    callees: Callees | None = None
    """None where agents and workflows cannot be called."""

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        home: Path | None = None,
        config: Path | None = None,
        cwd: Path | None = None,
        clock: Clock | None = None,
        environ: Mapping[str, str] = os.environ,
        redactor: Redactor | None = None,
    ) -> AsyncGenerator[Self]:
        """Read the configuration and make everything ready; sources are loaded and connected when they are first used.

        `home` defaults to WF_HOME, else the user's data folder. `redactor` is told every secret. At the end, runs and
        sessions are left as they were last stored. Enter and leave in the same task.

        Raises:
            InvalidConfig: the configuration cannot be used.
        """
        where = home or default_home(environ)
        settings = configuration(where, config, cwd=cwd)
        time, redactor = clock or SystemClock(), redactor or Redactor()
        async with (
            open_stores(settings.store_url(where)) as stores,
            SourceRegistry.open(settings, redactor, environ=environ, clock=time) as registry,
            anyio.create_task_group() as tasks,
        ):
            means = Means(
                stores.runs,
                registry,
                time,
                _CHANCE.random,
                settings.max_bytes,
                cache=stores.cache,
                runner=deployment_runners(settings, redactor, environ=environ),
            )
            runs = RunDriver(means, tasks, lambda: secrets.randbits(RUN_ID_RANDOM_BITS))
            outside = session_means(stores, registry, settings, redactor, environ=environ, clock=time)
            try:
                sessions = SessionDriver(outside, tasks)
                callees = open_callees(settings, redactor, means, stores, runs, sessions, tasks)
                yield cls(where, settings, time, redactor, stores, registry, runs, sessions, callees)
            finally:
                tasks.cancel_scope.cancel()
