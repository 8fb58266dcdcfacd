"""The kernel: what a run does next. It decides and does nothing else; acting is its driver's."""

from wf_core.runtime.engine import cancel, complete, fail, next_work, resume, start
from wf_core.runtime.program import Program, compile_program
from wf_core.runtime.recovery import recover, settle
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
    "fail",
    "next_work",
    "recover",
    "resume",
    "settle",
    "start",
]
