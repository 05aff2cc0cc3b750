"""Words for why a model stopped that public harnesses took for a whole answer, played through a ladder."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.runner import Said, weigh
from tests.harness.providers.raw_server import chat
from tests.harness.store.store_cases import unchained
from tests.reported.ladders import kept, play
from weigh.harness.providers.mock_server import MockServerProcess
from weigh.harness.store.calls import Call
from weigh.harness.store.record import Decision
from weigh.harness.store.usage import accounts_of
from weigh.harness.web.viewer.episode import attempts_of, episode_data
from weigh.policies.contract import Fault

ON_ITS_WAY = 'I think {"bid": 1} but wait, maybe it is better to'
"""Broken off: 1 was a first thought, and no move."""


def answers(said: Sequence[tuple[str, str | None]]) -> list[Mapping[str, Any]]:
    """Rules that give the first requests these texts and finish reasons; all later ones are answered well."""
    return [
        {"nth": str(nth), "do": "respond", "status": 200, "body": chat(text, word)}
        for nth, (text, word) in enumerate(said, 1)
    ]


def ladder(folder: Path, server: MockServerProcess, *said: tuple[str, str | None]) -> Said:
    done = play(folder, server, *answers(said))
    assert done.code == 0, done.err
    assert weigh("verify", folder / "results" / "small").code == 0, "what was decided at play time is what is read"
    return done


def calls_of(folder: Path) -> list[Call]:
    with kept(folder) as store:
        return list(store.calls())


def decisions_of(folder: Path) -> list[Decision]:
    with kept(folder) as store:
        return [decision for record in store.records() for decision in record.decisions if decision.by != "scripted"]


def faults_of(folder: Path) -> list[Fault]:
    return [note.fault for decision in decisions_of(folder) for note in decision.faults]


@pytest.mark.parametrize("word", ["abort", "network_error", "insufficient_system_resource", "error"])
def test_N01_a_server_that_broke_off_is_asked_again_and_the_half_is_not_played(
    server: MockServerProcess, tmp_path: Path, word: str
) -> None:
    ladder(tmp_path, server, (ON_ITS_WAY, word))
    calls = calls_of(tmp_path)
    assert [call.fate for call in calls] == ["wait"] + ["answered"] * 8
    assert word in (calls[0].error or "")
    assert faults_of(tmp_path) == []


def test_N02_an_answer_cut_by_its_context_or_its_cap_is_truncated_whatever_the_word(
    server: MockServerProcess, tmp_path: Path
) -> None:
    words = ["model_length", "model_context_window_exceeded", "max_output_tokens", "incomplete", "ERROR_LIMIT"]
    ladder(tmp_path, server, *((ON_ITS_WAY, word) for word in words), ('{"bid": 1}', "model_length"))
    assert faults_of(tmp_path) == ["truncated"] * 6
    assert [decision.by for decision in decisions_of(tmp_path)][:4] == ["fallback", "fallback", "fallback", "model"]


def test_N04_a_filter_is_a_refusal_and_a_malformed_call_is_unreadable(
    server: MockServerProcess, tmp_path: Path
) -> None:
    filters = ["guardrail_intervened", "content_filtered", "SAFETY", "RECITATION", "content_filter: PROHIBITED_CONTENT"]
    malformed = ["MALFORMED_FUNCTION_CALL", "function_call_filter: MALFORMED_FUNCTION_CALL", "malformed_model_output"]
    ladder(tmp_path, server, *((ON_ITS_WAY, word) for word in filters + malformed))
    assert faults_of(tmp_path) == ["refused"] * 5 + ["unreadable"] * 3


@pytest.mark.parametrize("word", ["halted", None])
def test_N01_a_word_that_nobody_knows_is_counted_and_shown_and_plays_only_what_ends_the_text(
    server: MockServerProcess, tmp_path: Path, word: str | None
) -> None:
    done = ladder(tmp_path, server, (ON_ITS_WAY, word), ('I take {"bid": 1}\n', word), ("", word))
    first, second, *_ = decisions_of(tmp_path)
    assert (first.by, [note.fault for note in first.faults]) == ("retry", ["truncated"])
    assert (word or "none") in first.faults[0].detail
    assert second.by == "model"
    said = f'finish reason "{word}" is not known' if word else "gives no finish reason"
    assert [line for line in done.err.splitlines() if said in line] != []
    with kept(tmp_path) as store:
        (told,) = store.adaptations()["mock:m"]
        (account,) = accounts_of([store]).models
        record = next(iter(store.records()))
        calls = list(store.calls(record.key))
    assert said in told
    assert (account.usage.unknown_stop_calls, account.usage.repeated_calls) == (2, 1)
    assert "2 with an unknown finish reason" in weigh("rank", tmp_path / "results" / "small", "--wide").out
    assert [call.completion.stop for call in calls if call.completion][:3] == ["unknown", "unknown", "end"]
    assert f'stopped by unknown "{word or "none"}"' in str(episode_data(record, attempts_of(calls))["steps"])


def test_what_an_earlier_version_took_for_a_whole_answer_is_still_read_as_it_was_decided(
    server: MockServerProcess, tmp_path: Path
) -> None:
    run = tmp_path / "results" / "small"
    ladder(tmp_path, server, (ON_ITS_WAY, "stop"))
    assert faults_of(tmp_path) == []
    unchained(run)
    _change(run, "UPDATE calls SET stop_detail = 'abort' WHERE number = 0")
    assert weigh("verify", run).code == 0, "decided under the stop that is kept, not under today's meaning of the word"
    _change(run, "UPDATE calls SET stop = 'unknown'")
    assert "has no answered call for attempt 2" in weigh("verify", run).out


def _change(run: Path, statement: str) -> None:
    with sqlite3.connect(run / "run.sqlite") as db:
        assert db.execute(statement).rowcount > 0
    db.close()
