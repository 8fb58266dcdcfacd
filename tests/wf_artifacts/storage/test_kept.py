"""What was made lately is there, up to a bound; what was not asked for longest makes room."""

from concurrent.futures import ThreadPoolExecutor

from wf_artifacts.storage.kept import Kept


def test_what_was_kept_is_there_until_another_takes_its_place() -> None:
    kept = Kept[str, str](100)
    assert kept.get("a") is None
    kept.keep("a", "first", size=10)
    kept.keep("b", "other", size=10)
    kept.keep("a", "second", size=10)
    assert (kept.get("a"), kept.get("b")) == ("second", "other")


def test_what_was_not_asked_for_longest_makes_room() -> None:
    kept = Kept[str, str](30)
    for key in "abc":
        kept.keep(key, key, size=10)
    assert kept.get("a") == "a"
    kept.keep("d", "d", size=15)
    assert {key: kept.get(key) for key in "abcd"} == {"a": "a", "b": None, "c": None, "d": "d"}


def test_what_takes_the_place_of_another_gives_back_its_room() -> None:
    kept = Kept[str, int](30)
    kept.keep("a", 0, size=10)
    for number in range(10):
        kept.keep("b", number, size=20)
    assert (kept.get("a"), kept.get("b")) == (0, 9)


def test_what_is_beyond_the_bound_is_kept_alone() -> None:
    kept = Kept[str, str](30)
    for key in "ab":
        kept.keep(key, key, size=1000)
        assert kept.get(key) == key
    assert kept.get("a") is None


def test_threads_use_it_at_once() -> None:
    kept = Kept[int, int](500)

    def use(start: int) -> None:
        for number in range(start, start + 2000):
            kept.keep(number % 100, number % 100, size=10)
            assert kept.get((number * 7) % 100) in {None, (number * 7) % 100}

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(use, range(4)))
    assert sum(kept.get(key) is not None for key in range(100)) == 50
