"""A line is what was written, or is refused."""

import pytest

from wf_core.codec.checksums import is_sealed, sealed, unsealed
from wf_core.jsonvalue import loads

BODIES = [b'{"n":1', b'{"text":"a,\\"crc32\\":5}"', b'{"x":{"crc32":2}', '{"é":"\U0001f600"'.encode()]


@pytest.mark.parametrize("body", BODIES)
def test_what_was_sealed_comes_back_and_is_an_object(body: bytes) -> None:
    assert unsealed(sealed(body)) == body
    assert isinstance(loads(sealed(body)), dict)


@pytest.mark.parametrize("body", BODIES)
def test_every_other_byte_is_noticed(body: bytes) -> None:
    line = sealed(body)
    for place in range(len(line)):
        assert unsealed(line[:place] + bytes([line[place] ^ 1]) + line[place + 1 :]) is None
        assert unsealed(line[:place]) is None
        assert unsealed(line[:place] + b" " + line[place:]) is None


@pytest.mark.parametrize("end", [b"}", b"}}", b"}\n"])
def test_json_may_end_in_another_way_and_only_so(end: bytes) -> None:
    data = sealed(memoryview(b'{"x":{"n":1'), end)
    assert is_sealed(data, end)
    assert [is_sealed(data, other) for other in (b"}", b"}}", b"}\n", b"")].count(True) == 1


def test_what_has_no_checksum_is_refused() -> None:
    assert unsealed(b'{"n":1}') is None
    assert unsealed(b"") is None
