"""Whatever others say, no command does harm to the person before the terminal."""

import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from typer.main import get_command

from tests.wf_mcp.cli.hostile import EVIL, FORGED, World, harm, harmless, world
from tests.wf_mcp.cli.terminal import Terminal
from wf_mcp.cli.asking import Reply, answer
from wf_mcp.cli.main import NOUNS, app
from wf_mcp.cli.visible import visible
from wf_mcp.operations.models import RunSummary

OTHERWISE = {"serve", "demo"}
"""Commands that show nothing of others' here: the server's log is the server's, and the demo has its own folder."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> World:
    return world(tmp_path_factory.mktemp("hostile"))


LOOKS: Mapping[str, tuple[str, ...]] = {
    "runs list": (),
    "runs show": ("ASKING",),
    "runs show paying": ("PAYING",),
    "runs show failed": ("FAILED",),
    "runs show checked": ("ASKING", "--check"),
    "runs trace": ("ASKING",),
    "runs trace failed": ("FAILED",),
    "runs graph": ("ASKING",),
    "runs recover": (),
    "runs prune": ("--older-than", "0s", "--dry-run"),
    "runs start": ("asking",),
    "runs start failing": ("breaking",),
    "runs start nothing": (EVIL,),
    "runs resume": ("ASKING", "--outcome", "none"),
    "runs resume with something else": ("ASKING", "--outcome", EVIL, "--payload", json.dumps({EVIL: 1})),
    "pending": (),
    "calls list": (),
    "calls show": ("CALL",),
    "calls show of a session": ("TOKEN",),
    "calls complete": ("TOKEN", json.dumps(EVIL), "--outcome", EVIL),
    "calls retry": ("TOKEN",),
    "artifacts list": (),
    "artifacts show": ("asking",),
    "artifacts save": ("more", "evil.json"),
    "artifacts delete": (EVIL,),
    "deployments list": (),
    "deployments show": ("paying",),
    "deployments create": ("more", "asking", "--bind", f"x={EVIL}"),
    "deployments delete": (EVIL,),
    "plan validate": ('{"name": "x", "start": ' + json.dumps(EVIL) + ', "steps": {}, ' + json.dumps(EVIL) + ": 1}",),
    "plan graph": ("evil.json",),
    "plan graph mermaid": ("evil.json", "--format", "mermaid"),
    "plan graph of a file": (f"{EVIL.partition(chr(0))[0]}.json",),
    "plan schema": (),
    "sources list": (),
    "sources show": ("ops",),
    "sources check": (EVIL,),
    "capabilities list": (),
    "capabilities show": ("ops.say",),
    "capabilities call": ("ops.say",),
    "capabilities call failing": ("ops.explode",),
    "session list": (),
    "session show": ("SESSION",),
    "session pending": ("SESSION",),
    "session start": ("--agent", "helper", "--prompt", EVIL, "--step"),
    "session step": ("SESSION",),
    "session pause": ("SESSION",),
    "session resume": ("SESSION", "--prompt", EVIL),
    "session run-isolated": ("SESSION",),
    "session fork": ("SESSION",),
    "session prune": ("--older-than", "0s", "--dry-run"),
    "session approve": ("TOKEN",),
    "session complete": (EVIL, "evil.json"),
    "session delete": (EVIL,),
    "agent run": ("helper", "--prompt", EVIL),
    "store copy": (EVIL, EVIL),
    "doctor": (),
    "init": (f"{EVIL}folder".replace("/", ""),),
    "mcp-config": ("claude-desktop",),
    "mcp-config codex": ("codex",),
}
"""What is typed, by command and what is told of it. These leave the world as it is, or add to it."""

ENDS: Mapping[str, tuple[str, ...]] = {
    "session fail": ("TOKEN", "--error", EVIL),
    "session resume": ("SESSION",),
    "calls approve": ("CALL",),
    "calls fail": ("CALL", "--error", EVIL),
    "runs resume": ("ASKING", "--outcome", EVIL),
    "runs cancel": ("ASKING", "--reason", EVIL),
}
"""The same of what ends something, in order."""


def typed(found: World, command: str, words: tuple[str, ...]) -> list[str]:
    ids = {"ASKING": found.asking, "PAYING": found.paying, "FAILED": found.failed, "SESSION": found.session}
    ids |= {"TOKEN": found.token, "CALL": found.call}
    folder = found.terminal.folder
    files = {"evil.json": str(folder / "evil.json")}
    given = [ids.get(word, files.get(word, word)) for word in words]
    if command.startswith("init"):
        given = [str(folder / given[0])]
    return [*named(command), *given]


def named(command: str) -> list[str]:
    """Give the words of a command, without what is told of it."""
    noun, *more = command.split()
    verbs = verbs_of(noun)
    return [noun, more[0]] if verbs else [noun]


def verbs_of(noun: str) -> Mapping[str, object]:
    return cast("Any", get_command(app)).commands[noun].commands


def every_command() -> Iterator[str]:
    for noun in NOUNS:
        yield from (f"{noun} {verb}" for verb in verbs_of(noun)) if verbs_of(noun) else [noun]


def test_every_command_is_looked_at() -> None:
    looked_at = {" ".join(named(command)) for command in (*LOOKS, *ENDS)}
    assert {command for command in every_command() if command.split()[0] not in OTHERWISE} == looked_at


@pytest.mark.parametrize("command", LOOKS)
def test_what_others_say_is_shown_and_not_obeyed(place: World, command: str) -> None:
    """Known gap once: an interrupt of the kind `[/]` ended `wf runs list` with a traceback."""
    harmless(place.terminal.wf(*typed(place, command, LOOKS[command])))


def test_what_ends_something_is_shown_and_not_obeyed(tmp_path: Path) -> None:
    place = world(tmp_path)
    for command, words in ENDS.items():
        harmless(place.terminal.wf(*typed(place, command, words)))


def test_it_is_shown_as_it_was_written(place: World) -> None:
    """Shown, not left out: a person sees what was tried."""
    for words in (("runs", "show", place.asking), ("runs", "show", place.paying), ("session", "show", place.session)):
        said = place.terminal.wf(*words).stdout
        for piece in ("[bold red]loud[/bold red]", ":smile:", r"\x1b[2J", r"\x9b", r"\u202eleft", r"\u2066"):
            assert piece in said


def test_a_long_name_leaves_room_for_what_is_said_of_it(place: World) -> None:
    """Known gap once: the name of a field pushed the answers of its question off the screen."""
    said = place.terminal.wf("runs", "show", place.asking).stdout
    assert ", no" in said
    assert said.count("wf calls approve call_forged") == 1


def test_json_says_all_of_it_exactly_and_holds_nothing_that_is_obeyed(place: World) -> None:
    told = place.terminal.wf("runs", "show", place.asking, "--json")
    assert harm(told.stdout) == set()
    assert told.json["interrupt"]["kind"] == EVIL
    assert told.json["interrupt"]["payload"] == {EVIL: EVIL + FORGED}


def test_folders_and_files_may_be_called_anything(tmp_path: Path) -> None:
    folder = tmp_path / EVIL.replace("/", "").replace("\0", "") / os.fsdecode(b"\xff")
    folder.mkdir(parents=True)
    (folder / "wf.json").write_text('{"surprise": 1}', encoding="utf-8")
    terminal = Terminal(folder)
    for words in (("doctor",), ("runs", "list"), ("mcp-config", "vscode"), ("plan", "validate", str(folder))):
        harmless(terminal.wf(*words))
    (folder / "wf.json").write_text("{}", encoding="utf-8")
    for words in (("doctor",), ("init", str(folder / "new")), ("init", str(folder / "new"))):
        harmless(terminal.wf(*words))


@pytest.mark.parametrize(
    "words",
    [(EVIL,), ("runs", EVIL), ("runs", "list", EVIL), ("runs", "list", f"--{EVIL}"), ("pending", "--limit", EVIL)],
)
def test_words_that_are_no_command_are_repeated_without_harm(place: World, words: tuple[str, ...]) -> None:
    ended = place.terminal.wf(*words)
    harmless(ended)
    assert ended.status == 2


def test_an_answer_is_asked_for_without_harm(place: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is typed is the outcome as it is shown."""
    run = RunSummary.model_validate(place.terminal.wf("runs", "show", place.asking, "--json").json)
    output = io.StringIO()
    monkeypatch.setattr("sys.stderr", output)
    monkeypatch.setattr("sys.stdin", io.StringIO(f"what\n{visible(EVIL).strip()}\nbecause\n"))
    assert answer(run.interrupts[0]) == Reply(EVIL, {EVIL: "because"}, run.interrupts[0].id)
    assert harm(output.getvalue()) == set()


@pytest.mark.skipif(shutil.which("script") is None, reason="the system has no script")
@pytest.mark.parametrize("words", [("runs", "list"), ("runs", "show", "ASKING"), ("session", "show", "SESSION")])
def test_a_real_terminal_is_told_colours_alone(place: World, words: tuple[str, ...]) -> None:
    folder = place.terminal.folder
    typed_words = typed(place, " ".join(words[:2]), words[2:])
    command = [sys.executable, "-c", "from wf_mcp.cli.main import main; main()"]
    command += ["--home", str(folder / "home"), "--config", str(folder / "wf.json"), *typed_words]
    ended = subprocess.run(
        ["script", "-qec", shlex.join(command), "/dev/null"],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "160"},
        check=False,
    )
    said = re.sub(r"\x1b\[[0-9;]*m", "", ended.stdout.decode().replace("\r\n", "\n"))
    assert harm(said) == set()
    assert r"\x1b[2J" in said
