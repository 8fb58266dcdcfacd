"""The kernel: what a run does next. It decides and does nothing else; acting is its driver's."""

from wf_core.runtime.engine import UnknownCall, cancel, complete, fail, next_work, resume, start
from wf_core.runtime.program import Program, compile_program
from wf_core.runtime.work import Answer, CallFailure, Invocation, Ready, Stopped, Waiting

__all__ = [
    "Answer",
    "CallFailure",
    "Invocation",
    "Program",
    "Ready",
    "Stopped",
    "UnknownCall",
    "Waiting",
    "cancel",
    "compile_program",
    "complete",
    "fail",
    "next_work",
    "resume",
    "start",
]
