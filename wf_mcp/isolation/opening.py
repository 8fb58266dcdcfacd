"""The runner of an agent, and which sandbox carries a call out: the call's own spec decides, then the runner."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from wf_core.calls.policy import IsolationSpec
from wf_core.calls.results import ToolResult
from wf_core.jsonvalue import JsonValue
from wf_mcp.config import Redactor
from wf_mcp.config.expansion import MissingVariables, expand, secrets_in
from wf_mcp.config.runners import InvalidRunner, Runner, Sandbox, read_runner, runner_for
from wf_mcp.isolation.errors import unavailable
from wf_mcp.isolation.place import Place, PythonWorker, no_python
from wf_mcp.isolation.protocol import DeploymentRunner


def open_runner(
    config: Mapping[str, JsonValue] | None,
    *,
    folder: Path,
    redactor: Redactor,
    environ: Mapping[str, str] = os.environ,
    python: Callable[[str], PythonWorker | None] = no_python,
) -> DeploymentRunner:
    """Give the runner that an agent file's `runner` describes; nothing is started.

    None stands for an agent without one: calls then run where their own specs say, else in a process by our own worker.
    `folder` is what relative paths count from; `python` says which Python sources our own worker can serve. What
    `${NAME}` stands for is kept out of everything by `redactor` from now on.

    Raises:
        InvalidRunner: naming every key and value that is not understood.
    """
    runner = read_runner(config or {})
    place = Place(folder.absolute(), environ, redactor, python)
    _keep_secret(runner, place)
    return _Selecting(runner, place)


class _Selecting:
    """Carries each call out in the sandbox that its spec names."""

    def __init__(self, runner: Runner, place: Place) -> None:
        self._runner = runner
        self._place = place

    @property
    def name(self) -> Sandbox:
        return self._runner.where

    async def execute(
        self,
        spec: IsolationSpec,
        request: bytes,
        token: str,
        *,
        capability: str = "",
        timeout_seconds: float | None = None,
    ) -> ToolResult:
        settings = self._settings(spec)
        seconds = min(settings.timeout_seconds, timeout_seconds or settings.timeout_seconds)
        # Each brings in what only it needs: most agents use one, and many none.
        match settings.where:
            case "process":
                from wf_mcp.isolation import process  # noqa: PLC0415

                return await process.execute(
                    settings, self._place, request, token, capability=capability, timeout_seconds=seconds
                )
            case "container":
                from wf_mcp.isolation import container  # noqa: PLC0415

                return await container.execute(settings, self._place, request, token, timeout_seconds=seconds)
            case "http":
                from wf_mcp.isolation import http  # noqa: PLC0415

                return await http.execute(settings, self._place, request, token, timeout_seconds=seconds)

    def _settings(self, spec: IsolationSpec) -> Runner:
        try:
            settings = runner_for(self._runner, spec)
            _keep_secret(settings, self._place)
            return expand(settings, self._place.environ)
        except InvalidRunner as exc:
            raise unavailable(exc.message, exc.hint or "") from exc
        except MissingVariables as exc:
            missing = " and ".join(exc.names)
            raise unavailable(
                f"The agent's runner needs {missing} from the environment.",
                f"Set {missing} where the server is started, and restart it.",
            ) from None


def _keep_secret(runner: Runner, place: Place) -> None:
    for secret in secrets_in(runner, {**runner.env, **runner.headers}, place.environ):
        place.redactor.add(secret)
