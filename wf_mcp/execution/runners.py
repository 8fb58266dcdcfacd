"""Who carries out the isolated calls of runs. A deployment has no runner of its own: each call's spec says where."""

from collections.abc import Callable, Mapping

from wf_core.calls.policy import IsolationSpec
from wf_mcp.config import Config, Redactor
from wf_mcp.config.runners import names_worker
from wf_mcp.isolation import DeploymentRunner, open_runner, python_workers


def deployment_runners(
    config: Config, redactor: Redactor, *, environ: Mapping[str, str]
) -> Callable[[IsolationSpec, str], DeploymentRunner | None]:
    """Give who carries out a call of a source: the worker that the spec names, else our own one over Python sources.

    None where a spec names no worker, and the source is not written in Python.
    """
    workers = python_workers(config, environ)
    runner = open_runner(None, folder=config.folder, redactor=redactor, environ=environ, python=workers)

    def runner_of(spec: IsolationSpec, source: str) -> DeploymentRunner | None:
        return runner if names_worker({}, spec) or workers(source) is not None else None

    return runner_of
