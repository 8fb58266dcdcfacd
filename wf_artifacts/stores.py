"""Opens the stores behind an address. The only place that names a backend."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from wf_artifacts.catalog.filetree import FileTreeCatalog
from wf_artifacts.catalog.memory import MemoryCatalog
from wf_artifacts.catalog.store import CatalogStore
from wf_artifacts.errors import InvalidStoreUrl
from wf_artifacts.runs.filetree import FileTreeRuns
from wf_artifacts.runs.memory import MemoryRuns
from wf_artifacts.runs.store import RunStore
from wf_artifacts.storage.home import Home


@dataclass(frozen=True, slots=True)
class Stores:
    """Every store of one address."""

    catalog: CatalogStore
    runs: RunStore

    async def close(self) -> None:
        """Give up what the stores hold open. Claims are released by whoever took them."""


def open_stores(url: str) -> Stores:
    """Open `memory://` or `file:///absolute/path`. Nothing is read or made before the first use.

    Raises:
        InvalidStoreUrl: no backend has such an address.
    """
    parts = urlsplit(url)
    path = unquote(parts.path)
    if parts.query or parts.fragment or parts.netloc:
        raise InvalidStoreUrl(f"{url!r} says more than a scheme and a path")
    match parts.scheme:
        case "memory" if not path:
            return Stores(MemoryCatalog(), MemoryRuns())
        case "file" if path.startswith("/"):
            home = Home(Path(path))
            return Stores(FileTreeCatalog(home), FileTreeRuns(home))
        case _:
            raise InvalidStoreUrl(f"{url!r} is neither memory:// nor file:// with an absolute path")
