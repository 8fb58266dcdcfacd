"""Files that a person named, whatever they turn out to be."""

import os
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from wf_mcp.config.files import read_bounded


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


@contextmanager
def writing(pipe: Path) -> Generator[int]:
    """Have a writer at the other end. Both ends are opened, so that it need not wait for a reader."""
    descriptor = os.open(pipe, os.O_RDWR)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def refusal(path: Path, *, max_bytes: int = 100) -> str:
    with pytest.raises(OSError) as refused:  # noqa: PT011  # what it says is looked at
        read_bounded(path, max_bytes=max_bytes)
    assert refused.value.strerror is not None
    return refused.value.strerror


@pytest.mark.parametrize("size", [0, 1, 99, 100])
def test_a_file_is_read_whole_up_to_the_bound(tmp_path: Path, size: int) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"x" * size)
    assert read_bounded(file, max_bytes=100) == b"x" * size


def test_what_is_too_large_is_refused_without_being_read(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"x" * 101)
    assert refusal(file) == "It holds more than 100 bytes"
    with file.open("wb") as sparse:
        sparse.truncate(2**40)
    assert refusal(file) == "It holds more than 100 bytes"


def test_a_file_that_does_not_say_how_large_it_is_is_read_within_the_bound() -> None:
    file = Path("/proc/self/status")
    if not file.exists():
        pytest.skip("there is no /proc")
    assert read_bounded(file, max_bytes=100_000).startswith(b"Name:")
    assert refusal(file, max_bytes=10) == "It holds more than 10 bytes"


def test_what_is_no_file_says_what_it_is(tmp_path: Path, pipe: Path) -> None:
    assert refusal(tmp_path) == "Is a directory"
    assert refusal(tmp_path / "gone") == "No such file or directory"
    assert refusal(Path("/dev/zero")) == "It is a device, no file"
    assert refusal(pipe) == "It is a pipe that nobody writes to"


def test_a_pipe_is_read_until_its_writer_ends() -> None:
    """As a shell's `<(command)` is."""
    reading, writing_end = os.pipe()
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(read_bounded, Path(f"/dev/fd/{reading}"), max_bytes=100)
        for word in (b"one ", b"two"):
            os.write(writing_end, word)
        os.close(writing_end)
        assert read.result(10) == b"one two"
    os.close(reading)


def test_a_pipe_is_read_within_the_bound_though_its_writer_never_ends(pipe: Path) -> None:
    with writing(pipe) as writer:
        os.write(writer, b"x" * 101)
        assert refusal(pipe) == "It holds more than 100 bytes"


def test_no_file_is_left_open(tmp_path: Path, pipe: Path) -> None:
    before = set(os.listdir("/dev/fd"))  # noqa: PTH208
    for path in (tmp_path, Path("/dev/zero"), pipe):
        refusal(path)
    assert set(os.listdir("/dev/fd")) == before  # noqa: PTH208
