"""What stands inside a disposition, and what stands around it."""

from wf_core.calls.policy import (
    Decorate,
    PolicyContext,
    RunAsync,
    RunSync,
    ToolCall,
    WithLabel,
    WithRetries,
    WithTimeout,
    bare,
    decorators,
    default_call_policy,
)

NESTED = Decorate((WithTimeout(30), WithLabel("slow")), Decorate((WithRetries(2),), RunAsync()))


def test_everything_is_run_at_once_by_default() -> None:
    assert default_call_policy(PolicyContext(), ToolCall("write", {})) == RunSync()


def test_decorations_come_off_at_every_depth() -> None:
    assert bare(NESTED) == RunAsync()
    assert decorators(NESTED) == (WithTimeout(30), WithLabel("slow"), WithRetries(2))
    assert (bare(RunSync()), decorators(RunSync())) == (RunSync(), ())
