"""The kernel: what a run does next. It decides and does nothing else; acting is its driver's."""

from wf_core.runtime.engine import cancel, complete, fail, next_work, resume, start
from wf_core.runtime.program import Program, compile_program
from wf_core.runtime.recovery import doubt, recover
from wf_core.runtime.settling import expire, put_off, settle
from wf_core.runtime.work import Answer, CallFailure, Invocation, Ready, Settlement, Stopped, Waiting

__all__ = [
    "Answer",
    "CallFailure",
    "Invocation",
    "Program",
    "Ready",
    "Settlement",
    "Stopped",
    "Waiting",
    "cancel",
    "compile_program",
    "complete",
    "doubt",
    "expire",
    "fail",
    "next_work",
    "put_off",
    "recover",
    "resume",
    "settle",
    "start",
]
