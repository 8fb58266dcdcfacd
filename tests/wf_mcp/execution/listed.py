"""A source whose capabilities are those of its last listing."""

from collections.abc import Mapping

from tests.wf_mcp.scripted import ScriptedSource
from wf_artifacts.sources.models import Capability


class Listed(ScriptedSource):
    """Believes its last listing, as an upstream server's source does."""

    said: Mapping[str, Capability] | None = None

    async def capabilities(self) -> Mapping[str, Capability]:
        self.said = self.said or await super().capabilities()
        return self.said

    async def capabilities_since(self, moment: float) -> Mapping[str, Capability]:
        self.said = None
        return await self.capabilities()
