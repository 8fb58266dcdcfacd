"""Questions keep the schemas of the moment at which they were asked."""

from tests.wf_core.kernel import NOW
from wf_core.state import Interrupt


def test_an_outcome_is_judged_by_its_own_schema_and_else_by_that_of_the_question() -> None:
    question = Interrupt(
        id="int_1",
        frame=0,
        kind="approval",
        step_id="ask",
        path=("ask",),
        payload={},
        outcomes=("yes", "no"),
        request_schema={},
        resume_schema={"required": ["comment"]},
        outcome_schemas={"no": True},
        typed=True,
        answered_by="anyone",
        opened_at=NOW,
    )
    assert question.schema_for("yes") == {"required": ["comment"]}
    assert question.schema_for("no") is True
