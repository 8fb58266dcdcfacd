"""One operation from the command line."""

import logging

import pytest
import typer

from wf_artifacts.errors import RunBusy
from wf_core.errors import NotJson
from wf_mcp.cli.operate import guard


def raising(error: BaseException) -> int:
    def act() -> None:
        raise error

    with pytest.raises(typer.Exit) as ended:
        guard(act)
    return ended.value.exit_code


def test_an_error_ends_with_the_exit_status_of_its_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert raising(RunBusy("run_1")) == 5
    assert "error run_busy" in capsys.readouterr().err


def test_an_error_inside_a_task_group_counts_as_itself() -> None:
    assert raising(ExceptionGroup("tasks", [ExceptionGroup("more", [NotJson("x", "it is not")])])) == 2


def test_a_fault_of_ours_is_logged_and_ends_with_status_70(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        assert raising(ZeroDivisionError("of all things")) == 70
    assert "of all things" in caplog.text


def test_ctrl_c_ends_as_a_shell_expects() -> None:
    assert raising(KeyboardInterrupt()) == 130
