"""Where isolated calls run and within which limits, as an agent file's `runner` says it.

    {"sandbox": "container", "image": "local/worker:1", "memory": "256m", "timeoutSeconds": 30}

Owns the record, and how a call's own spec changes it. Carrying it out is `wf_mcp.isolation`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from wf_core.calls.policy import IsolationSpec, RunIsolated, bare
from wf_core.calls.policy_data import PolicyConfig
from wf_core.errors import WfError
from wf_core.jsonvalue import JsonValue
from wf_mcp.config.models import MAX_BYTES, ConfigRecord
from wf_mcp.config.problems import problems

Sandbox = Literal["process", "container", "http"]

TIMEOUT_SECONDS: Final = 600.0

_SIZE = re.compile(r"(\d+)([bkmg]?)", re.IGNORECASE)
_UNITS = {"": 1, "b": 1, "k": 1024, "m": 1024**2, "g": 1024**3}
_MOUNT = r"^[^:]+:/[^:]*(:(ro|rw))?$"


class InvalidRunner(WfError, ValueError):
    """A runner, or a call's isolation spec, cannot be used as it is written. Nothing was started."""

    code = "invalid_runner"


def _read_size(value: object) -> object:
    if not isinstance(value, str):
        return value
    if (match := _SIZE.fullmatch(value)) is None:
        raise ValueError("write a number of bytes, as in 1000000 or 256m")
    return int(match[1]) * _UNITS[match[2].lower()]


def _read_words(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _check_program(words: list[str]) -> list[str]:
    if words and not words[0]:
        raise ValueError("the name of the program is empty")
    return words


Size = Annotated[int, BeforeValidator(_read_size), Field(gt=0)]
"""Bytes; text may end in k, m or g, by 1024."""
Words = Annotated[list[str], BeforeValidator(_read_words), AfterValidator(_check_program)]
Variable = Annotated[str, Field(pattern=r"^[^=\x00]+$")]


class Runner(ConfigRecord):
    """Everything in a `runner`. Keys are spelled `timeoutSeconds` or `timeout_seconds`."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, validate_by_alias=True)

    sandbox: Sandbox | None = None
    """None: `http` with a url, `container` with an image, else `process`."""
    command: Words = []
    """The worker. Without it: in a process our own worker, in a container what the image starts."""
    env: dict[Variable, str] = {}
    """What the worker has in its environment beside PATH, LANG, HOME and TMPDIR; `${NAME}` is taken from ours."""
    cwd: str | None = None
    """Where a process works, relative to the folder of the agent file; else in a fresh one. Or one of the container."""

    image: str | None = Field(default=None, pattern=r"^[^\s-]\S*$")
    engine: Words = Field(default=["docker"], min_length=1)
    """The command of any CLI that is spoken to as docker's."""
    pull: Literal["never", "missing", "always"] = "never"
    network: str = "none"
    """The container's network."""
    writable: bool = False
    """Whether the container may write to its root."""
    user: str = "65534:65534"
    """Whom the container runs as; empty: as the image says."""
    mounts: list[Annotated[str, Field(pattern=_MOUNT)]] = []
    """`source:/target[:ro]`; a relative source counts from the folder of the agent file."""
    tmp: Size = 64 * 1024**2
    """How much the container may write to /tmp."""

    url: str | None = Field(default=None, pattern=r"^(https?://[^/?#\s]|\$\{)")
    headers: dict[str, str] = {}

    timeout_seconds: float = Field(default=TIMEOUT_SECONDS, gt=0, allow_inf_nan=False)
    """From the start of the worker to its end."""
    max_output_bytes: int = Field(default=MAX_BYTES, gt=0)
    """Of the answer."""
    memory: Size | None = None
    """None: 512m in a container; a process has no limit of its own, since it counts the address space."""
    cpus: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    """Of a container."""
    cpu_seconds: int | None = Field(default=None, gt=0)
    """Of a process."""
    pids: int | None = Field(default=None, gt=0)
    """None: 128 in a container; of a process the system counts all that its user has, and none of root's."""
    file_size: Size = 1024**3
    """How large a file a process may write."""

    @model_validator(mode="after")
    def _belongs(self) -> Self:
        for name in sorted(self.model_fields_set):
            if (places := _ONLY.get(name)) is not None and self.where not in places:
                raise ValueError(f"{to_camel(name)} does not go with {self.where}")
        return self

    @property
    def where(self) -> Sandbox:
        """The sandbox, named or not."""
        if self.sandbox is not None:
            return self.sandbox
        return "http" if self.url is not None else "container" if self.image is not None else "process"

    @property
    def lack(self) -> str | None:
        """What is missing for any call to run here, in words. A call's own spec may still bring it."""
        key = _NEEDED.get(self.where)
        return None if key is None or getattr(self, key) is not None else f"{key} is missing, which {self.where} needs"


_CONTAINER, _LOCAL = frozenset[Sandbox]({"container"}), frozenset[Sandbox]({"process", "container"})
_ONLY: Mapping[str, frozenset[Sandbox]] = {
    **dict.fromkeys(("image", "pull", "network", "writable", "user", "mounts", "tmp"), _CONTAINER),
    **dict.fromkeys(("command", "env", "cwd"), _LOCAL),
    **dict.fromkeys(("url", "headers"), frozenset[Sandbox]({"http"})),
}
"""Where a setting means something. Limits and the engine may stand anywhere: a call's spec may name another sandbox."""

_NEEDED: Mapping[Sandbox, str] = {"container": "image", "http": "url"}
_ELSEWHERE = {
    "engine", "timeout_seconds", "max_output_bytes", "memory", "cpus", "cpu_seconds", "pids", "file_size",
}  # fmt: skip
"""What still holds when a call's spec names another sandbox than the runner's."""


def read_runner(document: Mapping[str, JsonValue], *, name: str = "runner") -> Runner:
    """Read a runner; `name` is what messages call it.

    Raises:
        InvalidRunner: naming every key and value that is not understood. Values are not shown: they may be secret.
    """
    try:
        return Runner.model_validate(document)
    except ValidationError as exc:
        faults = problems(exc, _known_keys, either_spelling=True)
        raise InvalidRunner(
            f"{name}: " + "; ".join(faults) + ".",
            hint="docs/isolation.md shows every key.",
            details={"problems": faults},
        ) from None


def runner_for(runner: Runner, spec: IsolationSpec) -> Runner:
    """Give the runner as a call's spec wants it. In another sandbox than the runner's own only its limits still hold.

    Raises:
        InvalidRunner: the spec has an option that is not understood, or neither names what its sandbox needs.
    """
    sandbox = _sandbox(spec) or runner.where
    kept = runner.model_dump(exclude_unset=True)
    if sandbox != runner.where:
        kept = {key: value for key, value in kept.items() if key in _ELSEWHERE}
    options: dict[str, Any] = {_NAMES.get(key, key): value for key, value in spec.options.items()}
    if spec.image is not None:
        options["image"] = spec.image
    settings = read_runner({**kept, **options, "sandbox": sandbox}, name=_SPEC)
    if settings.lack is not None:
        hint = "Write it in the agent's runner, or in the call's isolation spec."
        raise InvalidRunner(f"{_SPEC}: {settings.lack}.", hint=hint, details={"problems": [settings.lack]})
    return settings


def names_worker(written: Mapping[str, JsonValue], spec: IsolationSpec) -> bool:
    """Tell whether a runner as it is written and a call's spec say what carries the call out, whatever its source is.

    They may hold limits alone, and a process without a command is our own worker, which only knows Python sources.
    """
    try:
        settings = runner_for(read_runner(written), spec)
    except InvalidRunner:
        return True  # what is wrong with it is told where it is used
    return settings.where != "process" or bool(settings.command)


def isolation_faults(policy: PolicyConfig, runner: Runner, *, where: str) -> list[tuple[str, str]]:
    """Say what keeps isolated calls from running as a policy and a runner say: each place, and what is wrong there.

    `where` is what the policy is called. What a runner lacks, a spec of the policy may bring.
    """
    places = {f"{where}.default": policy.default}
    places |= {f"{where}.rules[{index}].disposition": rule.disposition for index, rule in enumerate(policy.rules)}
    faults: list[tuple[str, str]] = []
    lack = runner.lack
    for place, disposition in places.items():
        innermost = bare(disposition)
        if isinstance(innermost, RunIsolated):
            try:
                if runner_for(runner, innermost.spec).where == runner.where:
                    lack = None
            except InvalidRunner as error:
                faults += [(place, problem) for problem in error.details["problems"]]
    return faults if lack is None else [("runner", lack), *faults]


def _sandbox(spec: IsolationSpec) -> Sandbox | None:
    """Give the sandbox that a spec names, by its name or by what only it needs."""
    if spec.sandbox is not None:
        return spec.sandbox
    return "http" if spec.options.get("url") else "container" if spec.image is not None else None


_SPEC = "the isolation spec"
_NAMES = {to_camel(name): name for name in Runner.model_fields}


def _known_keys(_parents: Sequence[int | str]) -> list[str]:
    return list(_NAMES)
