"""Finding and reading wf.json."""

import json
from pathlib import Path
from typing import Any

import pytest

from wf_mcp.config.load import InvalidConfig, load_config, parse_config
from wf_mcp.config.models import AgentEntry, Config, HintOverride, McpServer, PythonModule


def parse(document: Any) -> Any:
    return parse_config(json.dumps(document).encode())


def refusal(document: Any) -> str:
    with pytest.raises(InvalidConfig) as refused:
        parse(document)
    return refused.value.message


def test_the_working_directory_goes_before_the_home(tmp_path: Path) -> None:
    cwd, home = tmp_path / "cwd", tmp_path / "home"
    for folder, size in ((cwd, 1), (home, 2)):
        folder.mkdir()
        (folder / "wf.json").write_text(f'{{"max_bytes": {size}}}')

    assert load_config(None, cwd=cwd, home=home).max_bytes == 1
    (cwd / "wf.json").unlink()
    found = load_config(None, cwd=cwd, home=home)
    assert (found.max_bytes, found.file, found.folder) == (2, home / "wf.json", home.resolve())


def test_without_a_file_everything_has_its_default(tmp_path: Path) -> None:
    config = load_config(None, cwd=tmp_path, home=tmp_path)

    assert (config.file, config.folder, config.max_bytes) == (None, tmp_path, 16_000_000)
    assert config.mcp_servers == config.python_sources == {}


def test_a_named_file_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfig, match=r"other\.json cannot be read"):
        load_config(tmp_path / "other.json", cwd=tmp_path, home=tmp_path)


def test_the_shape_that_mcp_clients_know_is_read() -> None:
    config = parse(
        {
            "mcpServers": {
                "files": {"command": "npx", "args": ["-y", "x"], "env": {"TOKEN": "${T}"}},
                "web": {"type": "http", "url": "https://example.com/mcp", "headers": {"A": "b"}, "enabled": False},
            },
            "pythonSources": {"ops": {"module": "ops"}},
        }
    )

    assert config.mcp_servers["files"].args == ["-y", "x"]
    assert not config.mcp_servers["web"].enabled
    assert config.python_sources["ops"].path == "."


def test_an_unknown_key_is_refused_with_its_nearest_neighbour() -> None:
    assert "unknown key mcpServer (did you mean mcpServers?)" in refusal({"mcpServer": {}})
    nested = {"mcpServers": {"a": {"command": "x", "hints": {"t": {"readonly": True}}, "header": {}}}}
    message = refusal(nested)
    assert "unknown key mcpServers.a.hints.t.readonly (did you mean readOnly?)" in message
    assert "unknown key mcpServers.a.header (did you mean headers?)" in message


def test_a_fault_comes_with_every_key_that_there_is() -> None:
    """Known gap once: the hint named a page that shows some."""
    with pytest.raises(InvalidConfig) as refused:
        parse_config(b'{"surprise": 1}')
    assert refused.value.hint is not None
    for record in (Config, McpServer, HintOverride, PythonModule, AgentEntry):
        for name, field in record.model_fields.items():
            assert f" {field.alias or name}" in refused.value.hint


def test_every_fault_is_named_at_once_and_no_value_is_shown() -> None:
    message = refusal(
        {"max_bytes": "sesame-1", "mcpServers": {"a": {"command": ["sesame-2"]}, "b": {"env": {"K": 3}, "url": "x"}}}
    )

    assert all(place in message for place in ("max_bytes", "mcpServers.a.command", "mcpServers.b.url"))
    assert "sesame" not in message


def test_text_that_is_no_json_is_refused_with_the_line() -> None:
    with pytest.raises(InvalidConfig, match="line 2"):
        parse_config(b'{\n "store": }')


def test_what_the_two_transports_do_not_share_is_refused() -> None:
    assert "write either command or url" in refusal({"mcpServers": {"a": {}}})
    assert "headers does not go with command" in refusal({"mcpServers": {"a": {"command": "x", "headers": {"a": "b"}}}})
    assert "args does not go with url" in refusal({"mcpServers": {"a": {"url": "http://x", "args": ["a"]}}})
    assert "type stdio does not go with url" in refusal({"mcpServers": {"a": {"url": "http://x", "type": "stdio"}}})


def test_a_name_is_given_to_one_source() -> None:
    both = {"mcpServers": {"a": {"command": "x"}}, "pythonSources": {"a": {"module": "a"}}}
    assert "two sources are called a" in refusal(both)
    assert "two sources are called wf.std" in refusal({"pythonSources": {"wf.std": {"module": "a"}}})
    assert "pythonSources" in refusal({"pythonSources": {"a b": {"module": "a"}}})


def test_a_home_in_which_no_file_can_be_looked_for_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfig, match="File name too long"):
        load_config(None, cwd=tmp_path, home=tmp_path / ("n" * 300))
