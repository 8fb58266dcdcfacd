"""What every runner of isolated calls is to the rest of the program."""

from typing import Protocol

from wf_core.calls.policy import IsolationSpec
from wf_core.calls.results import ToolResult
from wf_mcp.isolation.errors import IsolationError


class DeploymentRunner(Protocol):
    """Carries one call out in a sandbox. It holds nothing between two calls."""

    @property
    def name(self) -> str:
        """Give the sandbox that is used where a call's spec names none: `process`, `container` or `http`."""
        ...

    async def execute(
        self,
        spec: IsolationSpec,
        request: bytes,
        token: str,
        *,
        capability: str = "",
        timeout_seconds: float | None = None,
    ) -> ToolResult:
        """Give a worker the envelope `request`, and give back what its own envelope for `token` holds.

        `capability` is `source.name`: the worker that we ship has to know whose it is, where the envelope's tool name
        does not say it. The shorter of `timeout_seconds` and the runner's own limit holds. However this ends, cancelled
        too, nothing of the worker is left afterwards.

        Raises:
            IsolationError: there is no answer, or none that can be used; `executed` says what is known of effects.
        """
        ...


__all__ = ["DeploymentRunner", "IsolationError"]
