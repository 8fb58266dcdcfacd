"""Ids are checked before they name anything, files first of all."""

from wf_artifacts.errors import InvalidId
from wf_core.ids import is_id


def require_id(what: str, text: str) -> None:
    """Accept an id; `what` says of what, with its article.

    Raises:
        InvalidId: the text cannot be one.
    """
    if not is_id(text):
        raise InvalidId(f"the id of {what}", text)
