"""Isolated calls in a container, by any command that is spoken to as docker's.

Without network, with a root that cannot be written to, no privileges and bounded resources, as far as the runner or the
call's spec does not say otherwise. A container is made, started and removed by a command each: so it is certain that a
container which could not be made did nothing, and whatever happens to the second command, the third comes.
"""

import os
import secrets
from collections.abc import Mapping

import anyio

from wf_core.calls.results import ToolResult
from wf_mcp.config.runners import Runner
from wf_mcp.isolation.answers import read_answer
from wf_mcp.isolation.bounded import Log
from wf_mcp.isolation.errors import IsolationError, unavailable
from wf_mcp.isolation.place import Place
from wf_mcp.isolation.supervised import Command, Ended, run
from wf_mcp.sources.boundary import presentable

NAME_PREFIX = "wf-"
MEMORY = 512 * 1024**2
PIDS = 128

_ENGINE_SECONDS = 30.0
"""How long the engine may take for anything but running the worker. It is not interrupted in between."""
_MOST_WORDS = 64 * 1024
_FOR_THE_ENGINE = ("DOCKER_", "CONTAINER", "PODMAN_", "XDG_")
_ALSO_FOR_THE_ENGINE = {"HOME", "SSH_AUTH_SOCK", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"}


async def execute(settings: Runner, place: Place, request: bytes, token: str, *, timeout_seconds: float) -> ToolResult:
    """Carry one call out, as `DeploymentRunner.execute` promises."""
    assert settings.image is not None  # noqa: S101  # as `runner_for` sees to
    container = _Container(settings, place, f"{NAME_PREFIX}{secrets.token_hex(16)}")
    log = Log(settings.image, place.redactor)
    # The engine makes a container also when nobody waits for it any more: then nobody would know of it.
    with anyio.CancelScope(shield=True):
        await container.create(_ENGINE_SECONDS if settings.pull == "never" else timeout_seconds)
    try:
        await anyio.lowlevel.checkpoint()
    except anyio.get_cancelled_exc_class():
        with anyio.CancelScope(shield=True):
            await container.remove()
        raise
    ended = await container.start(request, log, timeout_seconds)
    if ended.exit_status not in (0, None) and not ended.stdout and await container.never_ran(log.last_line):
        said = presentable(log.last_line, place.redactor)
        raise unavailable(
            f"The container of {settings.image} could not be started: {said}",
            "Look at image and command of the agent's runner or the call's isolation spec.",
        )
    memory = f", perhaps for its memory: it may have {settings.memory or MEMORY} bytes"
    return read_answer(ended, token, log.last_line, place.redactor, killed=memory)


class _Container:
    """One container, by its name."""

    def __init__(self, settings: Runner, place: Place, name: str) -> None:
        self._settings = settings
        self._place = place
        self._name = name
        self._env = _environment(place.environ)

    async def create(self, seconds: float) -> None:
        """Make the container.

        Raises:
            IsolationError: `isolation_unavailable`: there is none.
        """
        log = Log("docker create", self._place.redactor)
        words = ["create", *_options(self._settings, self._place, self._name, self._env)]
        try:
            ended = await self._engine(words, log, seconds, env=self._settings.env)
        except IsolationError as exc:
            await self.remove()
            raise unavailable(
                f"{self._settings.engine[0]} made no container: {exc.message}", "Look whether the engine runs."
            ) from None
        if ended.errno is not None:
            raise unavailable(
                f"{self._settings.engine[0]} cannot be started: {os.strerror(ended.errno)}.",
                "Install a container engine, or name its command as engine in the agent's runner.",
            )
        if ended.exit_status != 0:
            said = presentable(log.last_line, self._place.redactor)
            raise unavailable(
                f"{self._settings.engine[0]} made no container of {self._settings.image}: {said}",
                "Look whether the engine runs and has the image; images are fetched only where pull says so.",
            )

    async def start(self, request: bytes, log: Log, seconds: float) -> Ended:
        """Run the worker in the container; it is removed afterwards, whatever happens."""
        try:
            return await self._engine(
                ["start", "--attach", "--interactive", self._name],
                log,
                seconds,
                request=request,
                max_bytes=self._settings.max_output_bytes,
                afterwards=[*self._settings.engine, "rm", "--force", "--volumes", self._name],
            )
        except IsolationError as exc:
            if not exc.executed:
                await self.remove()
            raise

    async def never_ran(self, last_words: str) -> bool:
        """Tell whether it is certain that the worker was not started: the engine knows of no start, and says so."""
        if "Error response from daemon" not in last_words and not last_words.startswith("Error:"):
            return False
        # Times are whole seconds, rounded down: up to a second from now is certain to be after the start.
        words = ["events", "--since", "10m", "--until=-1s", "--format", "{{.Status}}"]
        filters = ["--filter", f"container={self._name}", "--filter", "type=container"]
        log = Log("docker events", self._place.redactor)
        try:
            ended = await self._engine([*words, *filters], log, _ENGINE_SECONDS)
        except IsolationError:
            return False
        seen = ended.stdout.split()
        # Only an engine that still knows that the container was made would know of a start.
        return ended.exit_status == 0 and b"create" in seen and b"start" not in seen

    async def remove(self) -> None:
        """Remove the container, should there be one."""
        try:
            await self._engine(
                ["rm", "--force", "--volumes", self._name], Log("docker rm", self._place.redactor), _ENGINE_SECONDS
            )
        except IsolationError:
            return

    async def _engine(
        self,
        words: list[str],
        log: Log,
        seconds: float,
        *,
        request: bytes = b"",
        max_bytes: int = _MOST_WORDS,
        afterwards: list[str] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Ended:
        command = Command(
            [*self._settings.engine, *words],
            # What is the worker's goes through the environment, for everybody can read arguments; but it changes
            # nothing for the engine's own command.
            env={**(env or {}), **self._env},
            cwd=self._place.folder,
            afterwards=afterwards or (),
        )
        return await run(command, request, log, max_bytes=max_bytes, timeout_seconds=seconds)


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Give what the engine's command needs of our environment. The container sees none of it."""
    names = (
        name
        for name in environ
        if name.startswith(_FOR_THE_ENGINE) or name.upper() in _ALSO_FOR_THE_ENGINE or name in {"PATH", "LANG"}
    )
    return {name: environ[name] for name in names}


def _options(settings: Runner, place: Place, name: str, taken: Mapping[str, str]) -> list[str]:
    memory = str(settings.memory or MEMORY)
    options = [
        *("--rm", "--interactive", "--name", name, "--pull", settings.pull, "--log-driver", "none"),
        *("--network", settings.network, "--security-opt", "no-new-privileges", "--cap-drop", "ALL"),
        *("--memory", memory, "--memory-swap", memory, "--cpus", f"{settings.cpus:g}"),
        *("--pids-limit", str(settings.pids or PIDS)),
        *("--tmpfs", f"/tmp:rw,nosuid,nodev,mode=1777,size={settings.tmp}"),  # noqa: S108  # the container's
    ]
    if not settings.writable:
        options.append("--read-only")
    if settings.user:
        options += ["--user", settings.user]
    if settings.cwd is not None:
        options += ["--workdir", settings.cwd]
    for mount in settings.mounts:
        source, _, target = mount.partition(":")
        # A name without a slash is a volume of the engine.
        options += [
            "--volume",
            f"{(place.folder / source).absolute() if '/' in source or source == '.' else source}:{target}",
        ]
    for variable, value in settings.env.items():
        options += ["--env", f"{variable}={value}" if variable in taken else variable]
    assert settings.image is not None  # noqa: S101
    return [*options, settings.image, *settings.command]
