"""A plan written as a Mermaid flowchart."""

import re

from tests.wf_mcp.cli.plans import NESTED
from wf_core.plan import WorkflowPlan
from wf_mcp.cli.mermaid import mermaid


def test_steps_are_named_by_number_and_what_they_say_is_escaped() -> None:
    plan = {
        "name": "quotes",
        "start": "ask",
        "steps": {"ask": {"type": "interrupt", "kind": 'say "hi" [now]', "routes": {"submitted": "__end__"}}},
    }

    text = mermaid(WorkflowPlan.model_validate(plan))

    assert text.splitlines()[:2] == ["flowchart TD", "  begin((start)) --> s0"]
    assert "#34;hi#34; #91;now#93;" in text
    assert '  b0__end__(("end"))' in text
    assert '  s0 -- "submitted" --> b0__end__' in text


def test_what_a_step_holds_is_a_box_with_an_end_of_its_own() -> None:
    lines = mermaid(NESTED).splitlines()

    boxes = [match[1] for line in lines if (match := re.search(r'subgraph b\d+ \["(.*)"\]', line))]
    assert boxes == ["each file", "score", "a", "b"]
    assert sum(line.strip() == "end" for line in lines) == len(boxes)
    for text in ("next file", "end of the child", "end of a", "end of b", "end"):
        assert sum(f'(("{text}"))' in line for line in lines) == 1


def test_each_node_is_described_once_and_nothing_else_is_pointed_at() -> None:
    text = mermaid(NESTED)
    described = re.findall(r"^ *(\w+)(?:\[|\{|\()", text, re.MULTILINE)
    assert len(described) == len(set(described))
    assert set(re.findall(r"--?\.?-?> (\w+)$", text, re.MULTILINE)) <= set(described)


def test_boxes_inside_one_another_far_deeper_than_pythons_stack_are_written() -> None:
    steps: dict[str, object] = {
        f"s{n}": {"type": "foreach", "over": "input.x", "as": "x", "routes": {"loop": f"s{n + 1}", "done": "__end__"}}
        for n in range(1200)
    }
    steps["s1200"] = {"type": "join", "routes": {"ok": "__end__"}}
    text = mermaid(WorkflowPlan.model_validate({"name": "deep", "start": "s0", "steps": steps}))
    assert text.count("subgraph ") == 1200
