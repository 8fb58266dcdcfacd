"""Which provider answers for a model's name."""

from pathlib import Path

import pytest

from tests.wf_mcp.llm.asking import asking
from wf_mcp.config import Redactor
from wf_mcp.llm import ModelFailed, open_model


@pytest.mark.anyio
async def test_a_script_is_looked_for_beside_the_agent(tmp_path: Path) -> None:
    (tmp_path / "answers.json").write_text('{"answers": [{"text": "Hello."}]}')
    model = open_model("scripted:answers.json", folder=tmp_path, environ={}, redactor=Redactor())
    assert (await model.ask(asking())).text == "Hello."


def test_opening_a_model_keeps_its_keys_out_of_everything(tmp_path: Path) -> None:
    redactor = Redactor()
    open_model("openai:gpt-5.1", folder=tmp_path, environ={"OPENAI_API_KEY": "sk-0123456789"}, redactor=redactor)
    assert redactor.text("with sk-0123456789") == "with [redacted]"


@pytest.mark.parametrize("name", ["", "gpt-5.1", ":x", "openai:", "scripted:"])
def test_a_name_without_a_vendor_or_a_model_names_none(tmp_path: Path, name: str) -> None:
    with pytest.raises(ModelFailed) as failed:
        open_model(name, folder=tmp_path, environ={}, redactor=Redactor())
    assert failed.value.code == "model_unusable"
