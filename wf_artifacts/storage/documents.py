"""How a record becomes a stored document and is read again.

A document is `{"format": …, "version": …, "body": {…, "crc32": …}}` in strict JSON (`wf_core.codec.envelope`). Whatever
is wrong with one names the document as the caller knows it, never by a path of the host.
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from pydantic import ValidationError

from wf_artifacts.storage.records import Record
from wf_core.codec import envelope
from wf_core.codec.envelope import Upgrade
from wf_core.errors import FormatTooNew, StateCorrupt

R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True)
class Format(Generic[R]):
    """The name and version under which one kind of record is stored."""

    name: str
    version: int
    record: type[R]
    upgrades: Mapping[int, Upgrade] = field(default_factory=dict[int, Upgrade])
    """Version n -> what makes a body of version n + 1 of it."""
    plain: int = 0
    """The last version whose documents have no checksum; 0 where every document has one."""

    def encode(self, record: R) -> bytes:
        """Write a record.

        Raises:
            NotJson: a value in it is no strict JSON; the error names the place.
        """
        return envelope.dump(self.name, self.version, record.model_dump())

    def decode(self, data: bytes, document: str, **identity: object) -> R:
        """Read a record; `document` names it in errors. It has the `identity` that its place promises.

        Raises:
            StateCorrupt: it is damaged, truncated, not this kind of document, or another's.
            FormatTooNew: a newer version wrote it.
        """
        with naming(document):
            body = envelope.load(
                data, format=self.name, supported=self.version, plain=self.plain, upgrades=self.upgrades
            )
        try:
            record = self.record.model_validate(body)
        except ValidationError as error:
            raise corrupt(document, _first_problem(error)) from error
        require_identity(record, document, identity)
        return record


def require_identity(record: Record, document: str, identity: Mapping[str, object]) -> None:
    """Accept a record that has the identity which its place promises.

    Raises:
        StateCorrupt: it is another's.
    """
    for name, promised in identity.items():
        if getattr(record, name) != promised:
            raise corrupt(document, f"its {name} is {getattr(record, name)!r}")


def corrupt(document: str, reason: str) -> StateCorrupt:
    """Make the error that says that a document cannot be read."""
    return StateCorrupt(
        f"The stored document {document} is damaged: {reason}.",
        hint="It was left as it is; restore it from a backup.",
        details={"document": document, "reason": reason},
    )


@contextmanager
def naming(document: str) -> Generator[None]:
    """Let errors about a stored document name it."""
    try:
        yield
    except StateCorrupt as error:
        raise corrupt(document, error.message.rstrip(".")) from error
    except FormatTooNew as error:
        named = f"stored document {document}"
        raise FormatTooNew(document=named, found=error.found, supported=error.supported) from error


def _first_problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, ("body", *problem["loc"])))
    return f"{place}: {problem['msg']}"
