"""What of a config a run keeps, and under which other configs it may go on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.harness.config.config_files import LEAST, PROMPT, Write, lay_out, writer
from weigh.harness.config.config import load_config


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return lay_out(tmp_path)


@pytest.fixture
def write(folder: Path) -> Write:
    return writer(folder)


def test_what_is_kept_is_plain_json_with_no_place_of_this_machine(write: Write, folder: Path) -> None:
    text = LEAST + f'a = "{folder}/prompts/any.md@openai:x"\nb = "prompts/goof.md@vllm:y"\n'
    kept = load_config(write(text)).to_json()
    assert json.loads(json.dumps(kept)) == kept
    assert str(folder) not in json.dumps(kept)
    settings = {"seats": 4, "cards": 13, "max_rounds": 13}
    assert kept["games"] == {"goofspiel": {"blocks": 5, "rows": "williams", "config": settings}}
    assert kept["limits"] == {"decision_timeout": 60.0, "episode_deadline": None}
    entrants = kept["entrants"]
    assert isinstance(entrants, dict)
    assert entrants["match"] == {"scripted": "match"}
    assert entrants["a"]["prompts"]["*"]["file"] == "any.md"
    assert entrants["b"]["prompts"]["*"]["file"] == "prompts/goof.md"


def same_run(write: Write, before: str, after: str) -> bool:
    def kept(text: str) -> object:
        return load_config(write(LEAST + 'a = "prompts/any.md@vllm:x"\n' + text)).to_json()

    return kept(before) == kept(after)


@pytest.mark.parametrize(
    "after",
    [
        "[limits]\nmax_usd = 9.0",
        "[limits]\nepisodes_in_flight = 64",
        "[limits]\nreplays = 3",
        "[rank]\nmax_fallback_rate = 0.5",
        '[models."vllm:x"]\nconcurrency = 3\napi_key_env = "OTHER"',
        '[models."vllm:x"]\nbase_url = "http://127.0.0.1:9999/v1"',
    ],
)
def test_a_run_may_go_on_under_other_ceilings_paces_and_ports(write: Write, after: str) -> None:
    assert same_run(write, "", after)


@pytest.mark.parametrize(
    "after",
    [
        "[limits]\ndecision_timeout = 61",
        "[limits]\nepisode_deadline = 7200",
        '[models."vllm:x"]\nbase_url = "http://gpu.example/v1"',
        '[models."vllm:x"]\nfold_system = true',
        'b = "match"',
    ],
)
def test_o08_what_decides_the_records_tells_runs_apart(write: Write, after: str) -> None:
    assert not same_run(write, "", after)


def test_o08_a_prompt_that_was_edited_tells_runs_apart(write: Write, folder: Path) -> None:
    path = write(LEAST + 'a = "prompts/any.md@openai:x"\n')
    before = load_config(path).to_json()
    (folder / "prompts" / "any.md").write_text(PROMPT + "Bid high.\n", encoding="utf-8")
    assert load_config(path).to_json() != before
