"""Whether a plan can be run: every issue at once, with its code, its place and what to do about it."""

from wf_core.validation.drift import required_capabilities
from wf_core.validation.read import read_plan
from wf_core.validation.report import Issue, Report, Severity

__all__ = ["Issue", "Report", "Severity", "read_plan", "required_capabilities"]
