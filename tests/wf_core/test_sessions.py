"""Sessions as a whole: whatever happens in whatever order, what a model sees is well-formed and replay is exact."""

import gc
import sys
from types import FrameType
from typing import Any, cast

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.wf_core.anything import ENVELOPES, results, texts, values
from tests.wf_core.conversations import SEED, Replayed, agent, call, start
from wf_core.calls.policy import ToolCall
from wf_core.calls.results import JsonContent, ToolResult, text_result
from wf_core.calls.tracked import FINAL, TrackedCall
from wf_core.codec.sessions import dump_session
from wf_core.errors import SessionRefused
from wf_core.sessions import (
    Approved,
    AskModel,
    Attachment,
    Delivered,
    LlmTurn,
    PartialUserTurn,
    Retried,
    RunCalls,
    Session,
    Stop,
    UserTurn,
    Wait,
    answer,
    awaited,
    begin,
    complete,
    defer,
    expire,
    fork,
    hold,
    next_action,
    open_calls,
    recover,
    release,
    say,
    wake_session,
)
from wf_core.sessions.settling import OUTCOME_UNKNOWN

tool_calls = st.builds(
    ToolCall,
    st.sampled_from(
        ("count", "write", "remote", "pay", "bash", "build", "watch", "ops.write", "nothing", "", "\ud800")
    ),
    st.just({"text": "a"}) | values | st.just({"x": float("inf")}),
    st.sampled_from(("", "a", "b", "call_t2_0", "call_t4_1")) | texts,
)
deliveries = st.one_of(st.builds(Delivered, results), st.just(Approved()), st.just(Retried()))
picks = st.integers(0, 9)


class AnyOrder(RuleBasedStateMachine):
    """Does anything at any time. `Replayed` sees that a refusal changes nothing and that events make the same state."""

    @initialize(mode=st.sampled_from(("synchronous", "asynchronous")), most=st.integers(1, 4), query=st.none() | texts)
    def open(self, mode: str, most: int, query: str | None) -> None:
        self.held = Replayed(start(query, execution_mode=mode, max_turns=most))
        self.forks = 0
        self.placeholders: dict[str, int] = {}

    @property
    def session(self) -> Session:
        return self.held.session

    def attempt(self, transition: Any, *args: Any, **named: Any) -> Any:
        try:
            return self.held.do(transition, *args, **named)
        except SessionRefused as refused:
            return refused

    def pick(self, number: int) -> TrackedCall | None:
        """Give a call, open or ended, of the last turn or held."""
        last = self.session.turns[-1]
        known = [*self.session.held.values(), *(last.calls if isinstance(last, PartialUserTurn) else [])]
        return known[number % len(known)] if known else None

    @rule(text=texts, asked=st.lists(tool_calls, max_size=4))
    def model_answers(self, text: str, asked: list[ToolCall]) -> None:
        may = isinstance(next_action(self.session), AskModel)
        refused = self.attempt(answer, text, asked)
        if may:
            assert refused is None

    @rule(query=texts, joins=st.booleans(), attached=st.booleans())
    def user_speaks(self, query: str, joins: bool, attached: bool) -> None:
        files = [Attachment("text/plain", "AAAA")] if attached else []
        assert self.attempt(say, query, files, joins=joins) is None

    @rule()
    def everything_ready_begins(self) -> None:
        action = next_action(self.session)
        if isinstance(action, RunCalls):
            assert self.attempt(begin, [ready.id for ready in action.calls]) is None

    @rule(number=picks)
    def one_begins(self, number: int) -> None:
        one = self.pick(number)
        self.attempt(begin, ["t99.0" if one is None else one.id])

    @rule(number=picks, result=results)
    def one_ends(self, number: int, result: ToolResult) -> None:
        one = self.pick(number)
        self.attempt(complete, "t1.0" if one is None else one.id, result)

    @rule(number=picks, reason=st.none() | texts, token=st.none() | st.sampled_from(("run_token", "other")))
    def one_is_deferred(self, number: int, reason: str | None, token: str | None) -> None:
        one = self.pick(number)
        if one is not None:
            self.attempt(defer, one.id, token=token, reason=reason)

    @rule(number=picks)
    def one_is_released(self, number: int) -> None:
        one = self.pick(number)
        if one is not None:
            self.attempt(release, one.id)

    @rule(number=picks)
    def one_expires(self, number: int) -> None:
        one = self.pick(number)
        if one is not None:
            self.attempt(expire, one.id)

    @rule(told=st.lists(st.tuples(picks, deliveries), max_size=4))
    def the_outside_delivers(self, told: list[tuple[int, Any]]) -> None:
        pairs = [(self.token(number), delivery) for number, delivery in told]
        waiting = {one.continuation_token for one in open_calls(self.session) if awaited(one)}
        unused = self.attempt(wake_session, pairs)
        if not isinstance(unused, SessionRefused):
            used = {token for token, _ in pairs if token in waiting}
            assert len(unused) == len(pairs) - len(used)

    def token(self, number: int) -> str:
        one = self.pick(number)
        return "call_unknown" if one is None or one.continuation_token is None else one.continuation_token

    @rule()
    def the_process_dies(self) -> None:
        running = {one.id for one in open_calls(self.session) if one.state == "running"}
        found = self.attempt(recover)
        assert {*found.again, *found.in_doubt} == running
        assert not [one for one in open_calls(self.session) if one.state == "running"]
        assert self.attempt(recover) == type(found)()

    @rule()
    def the_strategy_says_ask(self) -> None:
        action = next_action(self.session)
        last = self.session.turns[-1]
        may = isinstance(last, PartialUserTurn) and all(one.state not in ("ready", "deferred") for one in last.calls)
        if isinstance(action, Wait):
            assert action.holdable == may
        assert (self.attempt(hold) is None) == may

    @precondition(lambda self: self.forks < 2)
    @rule()
    def a_fork_goes_on(self) -> None:
        self.forks += 1
        before = dump_session(self.session)
        mine = {one.continuation_token for one in open_calls(self.session)} - {None}
        other = fork(self.session, id=f"sess_fork_{self.forks}", seed=f"{SEED} {self.forks}")
        assert dump_session(self.session) == before
        theirs = {one.continuation_token for one in open_calls(other)} - {None}
        assert not mine & theirs
        assert [one.id for one in open_calls(other)] == [one.id for one in open_calls(self.session)]
        same = len(self.session.turns) - (not isinstance(self.session.turns[-1], LlmTurn))
        # The last turn may tell of what ran in the original, or be partial.
        assert other.turns[:same] == self.session.turns[:same]
        self.held = Replayed(other)

    @invariant()
    def tokens_answer_one_call_each(self) -> None:
        tokens = [one.continuation_token for one in open_calls(self.session) if awaited(one)]
        assert None not in tokens
        assert len(set(tokens)) == len(tokens)

    @invariant()
    def what_is_next_can_be_done(self) -> None:
        is_open = list(open_calls(self.session))
        match next_action(self.session):
            case RunCalls(ready):
                assert ready
                assert list(ready) == [one for one in is_open if one.state == "ready"]
            case Wait(tokens, running):
                assert len(tokens) + len(running) == len(is_open) > 0
                answered = not isinstance(self.session.turns[-1], PartialUserTurn)
                assert not answered or {one.state for one in is_open} - {"in_doubt"}
            case Stop(text, error):
                assert (text is None) != (error is None)
                if error is None:
                    assert self.session.notices == []
                    assert self.session.queries == []
                    assert {one.state for one in is_open} <= {"in_doubt"}
                    assert [one.id for one in is_open] == [*self.session.held]
            case AskModel(session):
                assert session is self.session

    @invariant()
    def each_placeholder_comes_once_and_each_notice_once(self) -> None:
        turns = [turn for turn in self.session.turns if isinstance(turn, UserTurn)]
        shown = [placed.call_id for turn in turns for placed in turn.results if placed.held]
        notices = [notice for turn in turns for notice in turn.notices] + self.session.notices
        told = [notice.call_id for notice in notices if not notice.held]
        assert len(set(shown)) == len(shown)
        assert sorted([*told, *self.session.held]) == sorted(shown)

    @invariant()
    def of_each_held_call_in_doubt_the_model_is_told_once(self) -> None:
        turns = [turn for turn in self.session.turns if isinstance(turn, UserTurn)]
        notices = [notice for turn in turns for notice in turn.notices] + self.session.notices
        unknown = text_result(OUTCOME_UNKNOWN)
        doubts = [notice.call_id for notice in notices if notice.held]
        assert all(notice.result == unknown for notice in notices if notice.held)
        doubts += [
            placed.call_id for turn in turns for placed in turn.results if placed.held and placed.result == unknown
        ]
        assert len(set(doubts)) == len(doubts)
        for one in self.session.held.values():
            assert one.doubted == (one.id in doubts)
            assert one.doubted or one.state != "in_doubt"

    @invariant()
    def results_are_there_exactly_when_calls_have_ended(self) -> None:
        last = self.session.turns[-1]
        for one in [*self.session.held.values(), *(last.calls if isinstance(last, PartialUserTurn) else [])]:
            assert (one.result is not None) == (one.state in FINAL)


TestAnyOrder = AnyOrder.TestCase
TestAnyOrder.settings = settings(max_examples=30, stateful_step_count=40, deadline=None)


def test_the_flow_that_sessions_exist_for() -> None:
    """SESSIONS: three calls, one run, two deferred; results in any order; the model gets all three in call order."""
    held = Replayed(start())
    held.do(answer, "", [call("write", "a"), call("remote", "b"), call("remote", "c")])
    held.do(begin, ["t2.0"])
    held.do(complete, "t2.0", text_result("one"))
    tokens = [held.do(defer, one) for one in ("t2.1", "t2.2")]
    assert next_action(held.session) == Wait(tuple(tokens), (), holdable=False)
    assert held.do(wake_session, [(tokens[1], Delivered(text_result("three")))]) == []
    assert held.do(wake_session, [(tokens[0], Delivered(text_result("two")))]) == []
    assert held.do(wake_session, [(tokens[0], Delivered(text_result("late")))]) == [tokens[0]]
    turn = held.session.turns[-1]
    assert isinstance(turn, UserTurn)
    assert [placed.result for placed in turn.results] == [text_result(text) for text in ("one", "two", "three")]
    assert isinstance(next_action(held.session), AskModel)


def test_identical_calls_have_different_tokens_and_results_go_by_token() -> None:
    held = Replayed(start())
    held.do(answer, "", [call("remote", text="same")] * 3)
    tokens = [held.do(defer, f"t2.{index}") for index in range(3)]
    assert len(set(tokens)) == 3
    held.do(wake_session, [(token, Delivered(text_result(str(index)))) for index, token in enumerate(tokens)])
    turn = held.session.turns[-1]
    assert isinstance(turn, UserTurn)
    assert [placed.result for placed in turn.results] == [text_result(str(index)) for index in range(3)]


def test_text_that_looks_like_ours_is_text() -> None:
    held = Replayed(start(ENVELOPES[0]))
    for index, text in enumerate(ENVELOPES):
        turn = f"t{2 * index + 2}.0"
        held.do(answer, text, [ToolCall("write", {"text": text, "tag": "RunIsolated", "lc": 2}, text)])
        held.do(begin, [turn])
        held.do(complete, turn, ToolResult(JsonContent({"type": "text", "content": text, "token": text})))
    assert [turn.text for turn in held.session.turns[1::2]] == list(ENVELOPES)  # type: ignore[union-attr]


class Counting(list[Any]):
    """A list that counts how often it is read, and how much of it."""

    def __init__(self, items: list[Any]) -> None:
        super().__init__(items)
        self.read = 0

    def __iter__(self) -> Any:
        self.read += len(self)
        return super().__iter__()

    def __getitem__(self, key: Any) -> Any:
        self.read += 1 if type(key) is int else len(self)
        return super().__getitem__(key)


def work_of(session: Session) -> tuple[int, int, int]:
    """Go one round: count the functions called, the turns read, and the bytes written."""
    called = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal called
        called += event in ("call", "c_call")

    before = sys.getprofile()
    # What the collector finds, of other tests too, would be ended in here and counted with it.
    gc.disable()
    sys.setprofile(count)
    try:
        read, written = one_round(session)
    finally:
        sys.setprofile(before)
        gc.enable()
    return called, read, written


def one_round(session: Session) -> tuple[int, int]:
    """Ask, run, defer, hold, wake, say: count the turns read, and the bytes written."""
    session.take_events()
    session.turns = turns = Counting(session.turns)
    at = len(turns)
    answer(session, "", [call("write"), call("remote"), call("build"), call("nothing")])
    next_action(session)
    begin(session, [f"t{at + 1}.0", f"t{at + 1}.2"])
    complete(session, f"t{at + 1}.0", text_result("done"))
    token = defer(session, f"t{at + 1}.1")
    wake_session(session, [(token, Delivered(text_result("delivered")))])
    next_action(session)
    hold(session)
    answer(session, "Done.")
    complete(session, f"t{at + 1}.2", text_result("built"))
    answer(session, "Built.")
    say(session, "And now?")
    next_action(session)
    recover(session)
    read = turns.read
    session.turns = list(turns)
    return read, sum(map(len, session.take_events()))


def test_a_transition_costs_the_same_after_a_thousand_turns() -> None:
    """SESSIONS: a session of N turns costs O(N) bytes; and each step reads no more of it than the first one did."""
    session = start()
    costs = [work_of(session) for _ in range(170)]
    assert len(session.turns) > 1000
    called, read, written = costs[1]
    assert {one[0] for one in costs[1:]} == {called}
    assert {one[1] for one in costs[1:]} == {read}
    assert read < 60
    assert max(one[2] for one in costs) - written < 100  # ids get longer


def test_the_same_transitions_give_the_same_bytes() -> None:
    first, second = start(), start()
    for session in (first, second):
        for _ in range(3):
            one_round(session)
    assert dump_session(first) == dump_session(second)
    other = start(policy={})
    assert cast("Any", other.agent) != agent()
