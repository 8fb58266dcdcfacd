"""The records of wf.json."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from wf_mcp.config.models import Config, PythonModule


def test_a_configuration_knows_what_its_relative_paths_count_from(tmp_path: Path) -> None:
    config = Config(max_bytes=5)
    placed = config.at(tmp_path / "wf.json", tmp_path)

    assert (placed.file, placed.folder, placed.max_bytes) == (tmp_path / "wf.json", tmp_path, 5)
    assert config.file is None


@pytest.mark.parametrize("module", ["../ops", "ops.", "1ops", "", "a b"])
def test_a_module_is_named_as_an_import_would_name_it(module: str) -> None:
    with pytest.raises(ValidationError):
        PythonModule(module=module)


@pytest.mark.parametrize(
    ("store", "url"),
    [
        (None, "file:///home"),
        ("sqlite:///wf.db", "sqlite:////home/ada/100%25/wf.db"),
        ("sqlite:///data/wf.db", "sqlite:////home/ada/100%25/data/wf.db"),
        ("sqlite:////srv/wf.db", "sqlite:////srv/wf.db"),
        ("sqlite:///", "sqlite:///"),
        ("file:///srv/wf", "file:///srv/wf"),
        ("postgresql://user@host/wf", "postgresql://user@host/wf"),
    ],
)
def test_a_relative_database_counts_from_the_folder_of_the_file(store: str | None, url: str) -> None:
    folder = Path("/home/ada/100%")
    assert Config(store=store).at(folder / "wf.json", folder).store_url(Path("/home")) == url
