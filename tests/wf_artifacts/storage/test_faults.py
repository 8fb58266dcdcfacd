"""What the operating system refuses becomes an error of the store, without paths of the host."""

import errno

import pytest

from wf_artifacts.errors import DocumentUnreadable, StoreFull, StoreUnavailable
from wf_artifacts.storage.faults import translated


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOSPC, StoreFull),
        (errno.EDQUOT, StoreFull),
        (errno.EFBIG, StoreFull),
        (errno.EACCES, DocumentUnreadable),
        (errno.EPERM, DocumentUnreadable),
        (errno.ELOOP, DocumentUnreadable),
        (errno.EROFS, StoreUnavailable),
        (errno.EIO, StoreUnavailable),
        (errno.EMFILE, StoreUnavailable),
        (errno.ENOTDIR, StoreUnavailable),
    ],
)
def test_a_refusal_is_full_or_unavailable(number: int, kind: type[StoreUnavailable]) -> None:
    with pytest.raises(StoreUnavailable) as told, translated("runs/run_1/run.json"):
        raise OSError(number, "text of the system", "/secret/home/runs/run_1/run.json")
    assert type(told.value) is kind
    assert "runs/run_1/run.json" in told.value.message
    assert "/secret" not in f"{told.value} {told.value.details}"


def test_other_errors_pass() -> None:
    with pytest.raises(KeyError), translated("x"):
        raise KeyError("x")
