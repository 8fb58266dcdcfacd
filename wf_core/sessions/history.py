"""Whether a history may be shown to a model."""

from collections.abc import Sequence

from wf_core.sessions.models import Turn


def check_history(turns: Sequence[Turn]) -> None:
    """Demand that turns alternate, begin and end with the user's, and that each call has exactly one result.

    Results stand in the turn after their calls, in call order and nowhere else; provider ids are not empty and each is
    used once. Meant for tests and for fake models: it reads the whole history.

    Raises:
        BrokenHistory: naming the first place.
    """
    raise NotImplementedError
