"""The place that a program works in: its home, and the configuration that holds there."""

import os
from collections.abc import Mapping
from pathlib import Path

import platformdirs

from wf_mcp.config.load import InvalidConfig, load_config
from wf_mcp.config.models import Config


def configuration(home: Path | None, file: Path | None = None, *, cwd: Path | None = None) -> Config:
    """Read the configuration that a program over `home` has; see `load_config`.

    Raises:
        InvalidConfig: it cannot be used.
    """
    return load_config(file, cwd=cwd or _working_folder(), home=home or default_home(os.environ))


def default_home(environ: Mapping[str, str]) -> Path:
    """Give the folder where everything is kept when none is named."""
    return Path(environ.get("WF_HOME") or platformdirs.user_data_dir("wf-mcp"))


def _working_folder() -> Path:
    try:
        return Path.cwd()
    except OSError as error:
        raise InvalidConfig(
            "The folder that this was started in is gone.", hint="Change into one that is there, then try again."
        ) from error
