"""`${NAME}` in the configuration of a source."""

import pytest

from wf_mcp.config.expansion import MissingVariables, expand, secrets_of
from wf_mcp.config.models import Config, HintOverride, McpServer, PythonModule


def test_names_are_replaced_in_every_text() -> None:
    server = McpServer(command="${BIN}/x", args=["--key=${KEY}", "$KEY", "${not it}"], env={"A": "${KEY}${KEY}"})

    expanded = expand(server, {"BIN": "/b", "KEY": "k"})

    assert expanded.command == "/b/x"
    assert expanded.args == ["--key=k", "$KEY", "${not it}"]
    assert expanded.env == {"A": "kk"}


def test_what_an_environment_value_holds_is_not_expanded_again() -> None:
    assert expand(PythonModule(module="m", path="${A}"), {"A": "${B}", "B": "x"}).path == "${B}"


def test_every_missing_name_is_told() -> None:
    server = McpServer(url="https://${HOST}/mcp", headers={"Authorization": "Bearer ${TOKEN}", "X": "${TOKEN}"})

    with pytest.raises(MissingVariables) as missing:
        expand(server, {})

    assert missing.value.names == ("HOST", "TOKEN")


def test_hints_are_no_text() -> None:
    server = McpServer(command="x", hints={"${A}": HintOverride(readOnly=True)})
    assert expand(server, {}).hints == server.hints


def test_values_of_disabled_sources_and_credentials_in_place_are_secrets() -> None:
    config = Config(
        mcpServers={
            "off": McpServer(command="x", env={"A": "${OFF}"}, enabled=False),
            "web": McpServer(
                url="https://x", headers={"Authorization": "Bearer abcd1234", "Accept-Language": "german"}
            ),
        },
        pythonSources={"ops": PythonModule(module="m", path="${DIR}")},
    )

    secrets = set(secrets_of(config, {"OFF": "switched-off", "DIR": "folder"}))

    assert secrets == {"switched-off", "folder", "Bearer abcd1234", "abcd1234"}


@pytest.mark.parametrize("name", ["HOME", "PATH", "USER", "LC_ALL", "TMPDIR"])
def test_what_every_process_has_is_no_secret(name: str) -> None:
    config = Config(mcpServers={"files": McpServer(command="x", args=[f"${{{name}}}/x", "${HOME_KEY}"])})

    assert list(secrets_of(config, {name: "/root", "HOME_KEY": "abcd1234"})) == ["abcd1234"]
