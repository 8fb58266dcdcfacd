"""The composition root: what one program has open, from its start to its end."""

import os
import secrets
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import anyio
import platformdirs

from wf_artifacts.clock import Clock, SystemClock
from wf_artifacts.stores import Stores, open_stores
from wf_core.ids import RUN_ID_RANDOM_BITS
from wf_mcp.config import Config, InvalidConfig, Redactor, load_config
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

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        home: Path | None = None,
        config: Path | None = None,
        cwd: Path | None = None,
        clock: Clock | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> AsyncGenerator[Self]:
        """Read the configuration and make everything ready; sources are loaded and connected when they are first used.

        `home` defaults to WF_HOME, else the user's data folder. At the end, runs and sessions are left as they
        were last stored. Enter and leave in the same task.

        Raises:
            InvalidConfig: the configuration cannot be used.
        """
        where = home or default_home(environ)
        settings = configuration(where, config, cwd=cwd)
        time, redactor = clock or SystemClock(), Redactor()
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
                yield cls(where, settings, time, redactor, stores, registry, runs, SessionDriver(outside, tasks))
            finally:
                tasks.cancel_scope.cancel()


def configuration(home: Path | None, file: Path | None = None, *, cwd: Path | None = None) -> Config:
    """Read the configuration that a program over `home` has; see `load_config`.

    Raises:
        InvalidConfig: it cannot be used.
    """
    return load_config(file, cwd=cwd or _working_folder(), home=home or default_home(os.environ))


def _working_folder() -> Path:
    try:
        return Path.cwd()
    except OSError as error:
        raise InvalidConfig(
            "The folder that this was started in is gone.", hint="Change into one that is there, then try again."
        ) from error


def default_home(environ: Mapping[str, str]) -> Path:
    """Give the folder where everything is kept when none is named."""
    return Path(environ.get("WF_HOME") or platformdirs.user_data_dir("wf-mcp"))
