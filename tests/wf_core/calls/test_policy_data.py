"""A policy as data: read in both spellings with every mistake named, matched in order, and written again."""

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wf_core.calls.policy import (
    AppliedPolicy,
    Decorate,
    Defer,
    Disposition,
    IsolationSpec,
    PolicyContext,
    RunAsync,
    RunIsolated,
    RunSync,
    ToolCall,
    WithCacheKey,
    WithLabel,
    WithRetries,
    WithTimeout,
)
from wf_core.calls.policy_data import (
    PolicyConfig,
    PolicyRule,
    apply_policy,
    context_to_json,
    disposition_to_json,
    read_disposition,
    read_policy,
    spec_to_json,
)
from wf_core.errors import InvalidPolicy
from wf_core.jsonvalue import dumps, loads

HERE = PolicyContext()
CONTEXT = PolicyContext("sess_1", "run_1", "t2", "sess_0", ("planner", "helper"), ("count", "write"), "sess_0")

words = st.text(min_size=1, max_size=5)
seconds = st.floats(min_value=0.001, max_value=1e6) | st.integers(1, 10**6)
specs = st.builds(
    IsolationSpec,
    st.sampled_from((None, "process", "container", "http")),
    st.none() | words,
    st.dictionaries(st.sampled_from(("memory", "timeoutSeconds", "env")), words | st.integers()),
)
bares = st.one_of(
    st.just(RunSync()),
    st.just(RunAsync()),
    st.builds(RunIsolated, specs),
    st.builds(Defer, st.text(max_size=5), st.booleans(), st.none() | seconds),
)
decorations = st.one_of(
    st.builds(WithTimeout, seconds),
    st.builds(WithRetries, st.integers(0, 100)),
    st.builds(WithCacheKey, st.none() | words),
    st.builds(WithLabel, words),
)
dispositions: st.SearchStrategy[Disposition] = bares | st.builds(
    Decorate, st.lists(decorations, max_size=3).map(tuple), bares
)
rules = st.builds(PolicyRule, words, dispositions)
policies = st.builds(PolicyConfig, dispositions, st.lists(rules, max_size=3).map(tuple))


def issues(document: Any) -> dict[str, str]:
    with pytest.raises(InvalidPolicy) as caught:
        read_policy(document, "policy")
    return {issue["where"]: issue["message"] for issue in caught.value.issues}


@given(policies)
def test_a_policy_is_read_as_it_was_written(policy: PolicyConfig) -> None:
    assert read_policy(loads(dumps(policy.to_json()))) == policy


def test_the_example_of_the_contract() -> None:
    """SESSIONS 1."""
    policy = read_policy(
        {
            "default": {"tag": "runSync"},
            "rules": [
                {"tool": "fetch_remote_*", "disposition": {"tag": "defer", "reason": "external worker"}},
                {
                    "tool": "bash_command",
                    "disposition": {
                        "tag": "runIsolated",
                        "spec": {"image": "local/bash-runner:1", "sandbox": "container"},
                    },
                },
                {
                    "tool": "build_project",
                    "disposition": {
                        "tag": "decorate",
                        "decorators": [{"tag": "withTimeout", "seconds": 30}, {"tag": "withRetries", "times": 2}],
                        "inner": {"tag": "runAsync"},
                    },
                },
            ],
        }
    )
    assert policy == PolicyConfig(
        RunSync(),
        (
            PolicyRule("fetch_remote_*", Defer("external worker")),
            PolicyRule("bash_command", RunIsolated(IsolationSpec("container", "local/bash-runner:1"))),
            PolicyRule("build_project", Decorate((WithTimeout(30), WithRetries(2)), RunAsync())),
        ),
    )


def test_snake_case_is_read_too() -> None:
    policy = read_policy(
        {
            "default": {"tag": "run_async"},
            "rules": [
                {"tool": "a", "disposition": {"tag": "defer", "reason": "", "expires_seconds": 5, "approval": True}},
                {"tool": "b", "disposition": {"tag": "run_isolated", "spec": {"timeout_seconds": 3}}},
                {
                    "tool": "c",
                    "disposition": {
                        "tag": "decorate",
                        "decorators": [{"tag": "with_cache_key"}],
                        "inner": {"tag": "run_sync"},
                    },
                },
            ],
        }
    )
    assert policy.default == RunAsync()
    assert [rule.disposition for rule in policy.rules] == [
        Defer("", approval=True, expires_seconds=5),
        RunIsolated(IsolationSpec(options={"timeoutSeconds": 3})),
        Decorate((WithCacheKey(),), RunSync()),
    ]


@pytest.mark.parametrize("nothing", [None, {}, {"rules": []}, {"default": None}])
def test_no_policy_runs_everything_at_once(nothing: Any) -> None:
    assert read_policy(nothing) == PolicyConfig()


@pytest.mark.parametrize(
    ("pattern", "name", "capability", "matches"),
    [
        ("write", "write", "ops.write", True),
        ("ops.write", "write", "ops.write", True),
        ("write", "ops.write", "ops.write", False),
        ("ops.*", "write", "ops.write", True),
        ("wr?te", "write", "ops.write", True),
        ("WRITE", "write", "ops.write", False),
        ("*", "write", "", True),
        ("[w]rite", "write", "", True),
        ("[w]rite", "[w]rite", "", True),
        ("", "write", "", False),
    ],
)
def test_a_rule_names_a_tool_or_a_glob(pattern: str, name: str, capability: str, matches: bool) -> None:
    assert PolicyRule(pattern, RunSync()).matches(ToolCall(name, {}, capability=capability)) == matches


def test_the_first_rule_that_matches_decides() -> None:
    policy = PolicyConfig(Defer("else"), (PolicyRule("a*", RunAsync()), PolicyRule("ab", RunSync())))
    assert policy.apply(HERE, ToolCall("ab", {})) == AppliedPolicy(RunAsync(), "a*")
    assert policy.policy(HERE, ToolCall("b", {})) == Defer("else")
    assert policy.apply(HERE, ToolCall("b", {})).rule == "default"


def test_every_mistake_is_named_with_its_place() -> None:
    found = issues(
        {
            "defaults": {},
            "default": {"tag": "runSnyc"},
            "rules": [
                {"tool": "", "disposition": {"tag": "defer", "reason": 1, "approval": "yes", "expiresSeconds": 0}},
                {"tool": "a"},
                {"tool": "b", "disposition": {"tag": "runSync", "spec": {}}},
                {"tool": "c", "disposition": {"tag": "runIsolated", "spec": {"sandbox": "vm", "image": 7}}},
                {
                    "disposition": {
                        "tag": "decorate",
                        "decorators": [{"tag": "withTimeout"}, {"tag": "withRetries", "times": 2.0}],
                        "inner": 3,
                    }
                },
                {"tool": "e", "disposition": {"tag": "decorate", "decorators": {}, "inner": {"tag": "runSync"}}},
                {"tool": "f", "disposition": {"reason": "no tag"}},
                7,
            ],
        }
    )
    assert list(found) == [
        "policy.defaults",
        "policy.default.tag",
        "policy.rules[0].tool",
        "policy.rules[0].disposition.reason",
        "policy.rules[0].disposition.approval",
        "policy.rules[0].disposition.expiresSeconds",
        "policy.rules[1].disposition",
        "policy.rules[2].disposition.spec",
        "policy.rules[3].disposition.spec.sandbox",
        "policy.rules[3].disposition.spec.image",
        "policy.rules[4].tool",
        "policy.rules[4].disposition.decorators[0].seconds",
        "policy.rules[4].disposition.decorators[1].times",
        "policy.rules[4].disposition.inner",
        "policy.rules[5].disposition.decorators",
        "policy.rules[6].disposition.tag",
        "policy.rules[7]",
    ]
    assert found["policy.default.tag"] == 'is "runSnyc", none of runSync, runAsync, runIsolated, defer, decorate'


@pytest.mark.parametrize("document", [[], "runSync", 1, {"rules": {}}, {"rules": None}, {"default": []}])
def test_what_is_no_policy_is_refused(document: Any) -> None:
    assert issues(document)


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), True, "3", 1e12, None])
def test_seconds_are_a_number_above_zero(value: Any) -> None:
    with pytest.raises(InvalidPolicy):
        read_disposition(
            {"tag": "decorate", "decorators": [{"tag": "withTimeout", "seconds": value}], "inner": {"tag": "runSync"}}
        )


def test_a_key_in_both_spellings_is_one_too_many() -> None:
    assert "policy.default.expiresSeconds" in issues(
        {"default": {"tag": "defer", "reason": "x", "expiresSeconds": 1, "expires_seconds": 1}}
    )


def test_what_is_no_json_is_refused() -> None:
    assert issues({"default": {"tag": "defer", "reason": "\ud800"}})
    assert issues({"default": {"tag": "runIsolated", "spec": {"memory": {1, 2}}}})
    assert issues({"default": {"tag": "runSync"}, 1: 2})


def test_decorations_end_somewhere() -> None:
    nested: Any = {"tag": "runSync"}
    for _ in range(1000):
        nested = {"tag": "decorate", "decorators": [], "inner": nested}
    with pytest.raises(InvalidPolicy, match="at most 8 deep"):
        read_disposition(nested)


def test_a_spec_leaves_out_what_it_does_not_say() -> None:
    assert spec_to_json(IsolationSpec()) == {}
    assert spec_to_json(IsolationSpec("http", None, {"url": "x"})) == {"sandbox": "http", "url": "x"}
    assert disposition_to_json(Defer("x")) == {"tag": "defer", "reason": "x"}


class Careful:
    """A policy that is an object."""

    def __call__(self, context: PolicyContext, call: ToolCall) -> Disposition:
        return Defer("careful")


def test_any_policy_can_be_asked() -> None:
    config = PolicyConfig(RunSync(), (PolicyRule("a", RunAsync()),))
    call = ToolCall("a", {})
    assert apply_policy(config, HERE, call) == apply_policy(config.policy, HERE, call) == AppliedPolicy(RunAsync(), "a")
    assert apply_policy(Careful(), HERE, call) == AppliedPolicy(Defer("careful"), "Careful")


def test_a_policy_in_python_decides_only_what_data_could() -> None:
    def endless(context: PolicyContext, call: ToolCall) -> Disposition:
        return Decorate((WithTimeout(float("inf")),), RunSync())

    with pytest.raises(InvalidPolicy, match=r"endless\.decorators"):
        apply_policy(endless, HERE, ToolCall("a", {}))


def test_every_field_of_a_context_is_written() -> None:
    """It is stored as it is written: see the continuations in `tests/wf_artifacts/golden`."""
    written = context_to_json(CONTEXT)
    assert list(written) == [field.name for field in dataclasses.fields(PolicyContext)]
    assert written == loads(dumps(dataclasses.asdict(CONTEXT)))
