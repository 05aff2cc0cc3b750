"""A record that was touched does not re-derive, and the finding names the piece."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.harness.audit.verify.verify_cases import GAMES, episode, kept, lines, play
from weigh.harness.audit.verify.record import verify_record
from weigh.harness.store.record import Record


@pytest.mark.parametrize("game", GAMES)
def test_a_played_record_re_derives_in_full(game: str) -> None:
    data = kept(game)
    assert verify_record(data) == []
    assert verify_record(Record.model_validate(data)) == []
    assert verify_record(json.loads(Record.model_validate(data).comparable())) == [], "times may be left out"


@given(st.sampled_from(GAMES), st.integers(0, 10**6), st.sampled_from((0.0, 0.3, 1.0)), st.sets(st.integers(0, 3)))
def test_every_played_record_re_derives(game: str, number: int, faults: float, models: set[int]) -> None:
    record, _ = play(episode(game, number), models=tuple(models), faults=faults)
    assert lines(record) == []


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("steps", (0, 1, 3))
def test_a_deadline_ending_re_derives(game: str, steps: int) -> None:
    record, _ = play(episode(game), stop_after=steps, episode_deadline=60.0)
    assert (record.reason, record.ending, len(record.moves)) == ("deadline", "wall-clock", steps)
    assert lines(record) == []


# -- tampering, piece by piece -----------------------------------------------------------------------------------------


def first(data: dict[str, Any], kind: str) -> int:
    return next(index for index, event in enumerate(data["events"]) if event["type"] == kind)


@pytest.mark.parametrize("game", GAMES)
def test_a_changed_bid_is_found(game: str) -> None:
    for step in range(len(kept(game)["moves"])):
        data = kept(game)
        data["moves"][step][0] += 1 if data["moves"][step][0] < 8 else -1
        assert any(line.startswith(("events[", f"moves[{step}][0]")) for line in lines(data)), step
        data = kept(game)
        index = [at for at, event in enumerate(data["events"]) if event["type"] == "reveal"][step]
        data["events"][index]["bids"][0] += 1
        assert lines(data)[0].startswith(f"events[{index}].bids[0] does not follow from the moves: ")


def test_a_changed_award_is_found_by_its_name() -> None:
    data = kept("goofspiel")
    index = first(data, "reveal")
    data["events"][index]["award"] += 1
    (line,) = lines(data)
    assert line.startswith(f"events[{index}].award does not follow from the moves: ")


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("change", (1e-12, -0.25, 1.0))
def test_a_changed_score_is_found_by_its_seat(game: str, change: float) -> None:
    data = kept(game)
    data["scores"][1] += change
    (line,) = lines(data)
    assert line.startswith("scores[1] does not follow from the moves: ")
    assert "in the record" in line and "derived" in line


@pytest.mark.parametrize("game", GAMES)
def test_a_changed_collusion_index_is_found(game: str) -> None:
    data = kept(game)
    if game == "goofspiel":
        data["measures"]["collusion_index"][2] = 0.5
        assert lines(data)[0].startswith("measures.collusion_index[2] ")
    else:
        data["measures"]["collusion_index"] = 0.0
        assert lines(data) == [
            "measures.collusion_index does not follow from the moves: 0.0 in the record, null derived"
        ]


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("ending", ("wall-clock", "coins-exhausted ", "won"))
def test_a_changed_ending_is_found(game: str, ending: str) -> None:
    data = kept(game)
    data["ending"] = ending
    assert [line.split(":")[0] for line in lines(data)] == ["ending does not follow from the moves"]


@pytest.mark.parametrize("game", GAMES)
def test_a_removed_event_is_found_wherever_it_was(game: str) -> None:
    count = len(kept(game)["events"])
    for index in range(count):
        data = kept(game)
        removed = data["events"].pop(index)
        found = verify_record(data)
        assert found, index
        assert all(finding.where.startswith("events[") for finding in found)
        # Of two equal events side by side, either is the missing one; no two are equal here.
        assert found[0].where == f"events[{index}]" and found[0].what == "is missing"
        assert json.loads(found[0].derived if len(found[0].derived) < 90 else "{}").get("type", removed["type"])


@pytest.mark.parametrize("game", GAMES)
def test_an_added_event_is_found_wherever_it_is(game: str) -> None:
    count = len(kept(game)["events"])
    for index in range(count + 1):
        data = kept(game)
        data["events"].insert(index, {"type": "overbid", "seat": 0, "bid": 30, "margin": 29, "over": 1})
        (found,) = verify_record(data)
        assert (found.where, found.what) == (f"events[{index}]", "did not happen")


@pytest.mark.parametrize("game", GAMES)
def test_reordered_events_are_found(game: str) -> None:
    count = len(kept(game)["events"])
    for index in range(count - 1):
        data = kept(game)
        data["events"][index : index + 2] = data["events"][index : index + 2][::-1]
        (found,) = verify_record(data)
        assert (found.where, found.what) == (f"events[{index}]", "is out of order")


@pytest.mark.parametrize("game", GAMES)
def test_an_event_told_twice_is_found(game: str) -> None:
    data = kept(game)
    data["events"].insert(4, data["events"][4])
    assert [finding.what for finding in verify_record(data)] == ["did not happen"]


@pytest.mark.parametrize("game", GAMES)
def test_a_forged_early_end_is_found(game: str) -> None:
    data = kept(game)
    steps = len(data["moves"])
    data["moves"] = data["moves"][:-1]
    data["decisions"] = [each for each in data["decisions"] if each["step"] < steps - 1]
    assert any(line.startswith("reason claims an end that was not reached: ") for line in lines(data))


@pytest.mark.parametrize("game", GAMES)
def test_a_forged_deadline_is_found(game: str) -> None:
    data = json.loads(json.dumps(play(episode(game), stop_after=2)[0].model_dump(mode="json")))
    assert lines(data) == [
        'reason claims a deadline, and the episode had none: "deadline" in the record, nothing derived'
    ]
    data = kept(game)
    data |= {"reason": "deadline", "episode_deadline": 60.0}
    assert any("claims a deadline after the game's own end" in line for line in lines(data))


@pytest.mark.parametrize("game", GAMES)
def test_moves_after_the_end_are_found(game: str) -> None:
    data = kept(game)
    data["moves"].append([None] * len(data["aliases"]))
    (line,) = lines(data)
    assert line.startswith(f"moves[{len(data['moves']) - 1}] cannot be played: ")
    assert "over" in line


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ([1, 2, 3, 4, 5, 6, 7, 7], "8 is missing"),
        ([1, 2, 3, 4, 5, 6, 7], "8 is missing"),
        ([1, 2, 3, 4, 5, 6, 7, 9], "9 is no prize"),
        ("87654321", "must be a list"),
        (None, "must be a list"),
    ],
)
def test_a_deal_that_is_no_permutation_is_found(order: object, said: str) -> None:
    data = kept("goofspiel")
    data["deal"]["prize_order"] = order
    (line,) = lines(data)
    assert line.startswith("deal is refused by the rules: ")
    assert said in line


def test_a_deal_where_the_game_has_none_is_found() -> None:
    data = kept("oshi_zumo")
    data["deal"] = {"first": 1}
    assert lines(data)[0].startswith("deal is refused by the rules: ")


@pytest.mark.parametrize("game", GAMES)
def test_an_illegal_move_is_named_by_step_and_seat(game: str) -> None:
    data = kept(game)
    data["moves"][2][1] = 99
    (line,) = lines(data)
    assert line.startswith("moves[2][1] cannot be played: step 2, seat 1: ")


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("write", (str, float, lambda move: f" {move} "))
def test_a_move_in_another_writing_is_found(game: str, write: Callable[[int], object]) -> None:
    data = kept(game)
    data["moves"][1][0] = write(data["moves"][1][0])
    (line,) = lines(data)
    assert line.startswith("moves[1][0] is not in canonical form: ")


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("row", ([1], [1, 1, 1, 1], [], 1, "11", None, {"0": 1}))
def test_a_step_of_the_wrong_shape_is_found(game: str, row: object) -> None:
    data = kept(game)
    data["moves"][0] = row
    assert lines(data)[0].startswith("moves[0]")


@pytest.mark.parametrize("game", GAMES)
def test_a_fallback_counter_that_disagrees_is_found(game: str) -> None:
    data = kept(game)
    data["fallbacks"][0] += 1
    (line,) = lines(data)
    assert line.startswith("fallbacks[0] disagrees with the decisions: ")


@pytest.mark.parametrize("game", GAMES)
def test_forged_provenance_is_found(game: str) -> None:
    for index, decision in enumerate(kept(game)["decisions"]):
        for by in ("model", "retry", "fallback", "scripted", "human"):
            if by == decision["by"]:
                continue
            data = kept(game)
            data["decisions"][index]["by"] = by
            assert any(line.startswith((f"decisions[{index}].", "fallbacks[")) for line in lines(data)), (index, by)


@pytest.mark.parametrize("game", GAMES)
def test_a_fallback_hidden_with_its_counter_is_found(game: str) -> None:
    data = kept(game)
    index = next(at for at, each in enumerate(data["decisions"]) if each["by"] == "fallback")
    data["decisions"][index]["by"] = "model"
    data["fallbacks"][data["decisions"][index]["seat"]] -= 1
    (line,) = lines(data)
    assert (
        line == f"decisions[{index}].faults must have 0 for a move by model: 2 faults in the record, 0 faults derived"
    )


@pytest.mark.parametrize("game", GAMES)
def test_decisions_must_cover_every_move_once_and_in_order(game: str) -> None:
    data = kept(game)
    last = data["decisions"].pop()
    assert f"decisions has none for step {last['step']}, seat {last['seat']}" in lines(data)
    data = kept(game)
    data["decisions"].append(data["decisions"][-1])
    assert f"decisions has 2 for step {last['step']}, seat {last['seat']}" in lines(data)
    data = kept(game)
    data["decisions"].append({"step": 90, "seat": 7, "by": "scripted", "faults": [], "notes": None})
    assert "decisions has one for step 90, seat 7, where no move was asked for" in lines(data)
    data = kept(game)
    data["decisions"][:2] = data["decisions"][:2][::-1]
    assert any(line.startswith("decisions[0] is out of order") for line in lines(data))


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("field", ("entrants", "policies", "models", "aliases", "scores", "fallbacks"))
def test_every_list_by_seat_has_one_entry_a_seat(game: str, field: str) -> None:
    data = kept(game)
    seats = len(data[field])
    data[field] = data[field][:-1]
    assert f"{field} must have one entry for each seat: {seats - 1} in the record, {seats} derived" in lines(data)
    data = kept(game)
    data[field].append(data[field][0])
    assert any(line.startswith(f"{field} must have one entry for each seat") for line in lines(data))


@pytest.mark.parametrize("game", GAMES)
def test_aliases_must_differ_and_have_letters(game: str) -> None:
    data = kept(game)
    data["aliases"][0] = data["aliases"][1]
    assert lines(data)[0].startswith("aliases are not all different")
    data["aliases"][0] = ""
    assert lines(data)[0].startswith("aliases[0] is an empty name")


def test_a_finding_is_one_line_and_json() -> None:
    data = kept("goofspiel")
    data["scores"][0] = 5.0
    (found,) = verify_record(data)
    assert "\n" not in str(found)
    assert found.to_json() == {
        "episode": "",
        "where": "scores[0]",
        "what": "does not follow from the moves",
        "recorded": "5.0",
        "derived": found.derived,
    }
