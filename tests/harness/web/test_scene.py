"""What all games have in common: how numbers and seats are shown, who won, and whose move was not made at once."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.harness.web.episodes import by_models, played
from tests.harness.web.scenes.promises import elements
from weigh.games.registry import GAMES
from weigh.harness.seeds import NAMES
from weigh.harness.store.record import Decision, FaultNote
from weigh.harness.web.scene import SEALED, amount, exact_score, marks, score, winner
from weigh.harness.web.viewer.episode import episode_data
from weigh.harness.web.viewer.frames import frames_of


@pytest.mark.parametrize(
    ("value", "said"),
    [(4, "4"), (Fraction(7, 2), "3 1/2"), (Fraction(-1, 3), "-1/3"), (Fraction(-7, 3), "-2 1/3"), (Fraction(0), "0")],
)
def test_amounts_are_exact(value, said):
    assert amount(value) == said


@given(st.fractions(max_denominator=5_000))
def test_an_amount_can_be_read_back(value):
    whole, _, rest = amount(abs(value)).rpartition(" ")
    assert Fraction(rest) + (Fraction(whole) if whole else 0) == abs(value)
    assert amount(-abs(value)).startswith("-") is (value != 0)


def test_scores_have_a_sign_unless_they_are_nothing():
    assert [score(Fraction(3, 11)), score(-1.0), score(-0.0), score(0.00001)] == [
        "+0.2727",
        "-1.0000",
        "0.0000",
        "0.0000",
    ]
    assert [exact_score(Fraction(3, 11)), exact_score(Fraction(-1)), exact_score(Fraction(0))] == ["+3/11", "-1", "0"]


@given(st.permutations(NAMES), st.integers(2, 26))
def test_marks_differ_for_any_table_of_aliases(names, seats):
    table = [f"{name} (somebody)" for name in names[:seats]]
    own = marks(table)
    assert len(set(own)) == seats
    assert all(len(mark) <= 3 for mark in own)
    assert all(name.startswith(mark) for name, mark in zip(table, own, strict=True))


def test_marks_fall_back_to_numbers_where_letters_do_not_tell():
    assert marks(["Ash", "Ash", "Elm"]) == ("0", "1", "E")
    assert marks(["0", "Ash", "Ash"]) == ("0", "1", "2")
    assert marks(["\u202e", "Elm"]) == ("0", "E")


def badges(frame, kind):
    """The marks of the badges with this class, without repeats."""
    return {element[2] for element in elements(frame.picture.to_json(), kind)}


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ((1, -1), "Ash wins"),
        ((0, 0), "A draw"),
        ((Fraction(1, 3), Fraction(1, 3), Fraction(-2, 3)), "Ash and Elm share the first place"),
        ((1, 1, 1, -3), "Ash, Elm and Fir share the first place"),
        ((-1, 0, Fraction(1, 7)), "Fir wins"),
        ((0, 0, 0), "A draw"),
    ],
)
def test_who_won_is_said_in_one_way(scores, said):
    assert winner(("Ash", "Elm", "Fir", "Oak")[: len(scores)], tuple(map(Fraction, scores))) == said


@pytest.mark.parametrize("stop", [None, 0])
@pytest.mark.parametrize("name", GAMES)
def test_every_game_ends_with_the_same_kind_of_banner(name, stop):
    record = played(name, seed=9, stop=stop)
    told = frames_of(record)
    best = [name for name, score in zip(told.names, record.scores, strict=True) if score == max(record.scores)]
    banner = told.frames[-1].banner
    assert banner == winner(told.names, told.scores)
    assert all(name in banner for name in best) or banner == "A draw"


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.slow
def test_a_fallback_and_a_second_attempt_are_on_the_seat_in_the_feed_and_in_the_description(name):
    record = by_models(played(name, seed=2))
    made = {(each.step, each.seat): each for each in record.decisions}
    wanted = {seat: made[0, seat].by for seat in (0, 1) if (0, seat) in made and made[0, seat].by != "model"}
    assert wanted, "somebody moves in step 0, by the fallback or at a second attempt"
    told = frames_of(record)
    lines = [line for frame in told.frames for line in frame.feed]
    for seat, words in enumerate(
        (
            f"moved by the fallback ({record.fallback}): illegal, then empty.",
            "moved at a second attempt, after truncated.",
        )
    ):
        assert lines.count(f"{told.names[seat]} {words}") == (seat in wanted)
    for frame in told.frames:
        shows = frame.step == 0 and frame.kind not in (*SEALED, "end")
        assert dict(frame.flags) == (wanted if shows else {})
        marks = {seat: data["mark"] for seat, data in enumerate(episode_data(record)["seats"])}
        for by in ("retry", "fallback"):
            assert badges(frame, f"seat-{by}") == (
                {marks[seat] for seat in wanted if wanted[seat] == by} if shows else set()
            )
        assert ("Moved by the fallback: " in frame.picture.to_html()) == (shows and "fallback" in wanted.values())


@pytest.mark.parametrize("name", GAMES)
def test_moves_are_said_in_the_games_words(name):
    record = played(name, seed=4)
    told = frames_of(record)
    assert len(told.moves) == len(record.moves)
    for step, said in enumerate(told.moves):
        assert set(said) == {each.seat for each in record.decisions if each.step == step}
        assert all(said.values())
        assert not any("_" in words or "{" in words or "[" in words for words in said.values())


def test_a_placement_of_ballast_says_scale_claim_and_lie():
    record = played("ballast", seed=4)
    words = [said for step in frames_of(record).moves for said in step.values()]
    for move, said in zip([next(m for m in row if m is not None) for row in record.moves], words, strict=True):
        match move:
            case ["place", weight, scale, announced]:
                lie = ", a lie" if weight != announced else ""
                assert said == f"weight {weight} on scale {scale}, said to be {announced}{lie}"
            case ["challenge", number]:
                assert said == f"challenges #{number}"
            case ["discard", weight]:
                assert said == f"gives up weight {weight}"


def test_half_moves_are_said_along_their_axis():
    record = played("half_hearted_step", seed=4)
    said = [words for step in frames_of(record).moves for words in step.values()]
    ways = {words.split()[0] for words in said}
    assert ways & {"left", "right"}
    assert ways & {"up", "down"}
    assert ways <= {"left", "right", "up", "down", "stay", "passes", "bids", "first,", "second,"}


def test_a_decision_of_no_seat_harms_nothing():
    record = played("oshi_zumo", {"coins": 6})
    odd = Decision(step=0, seat=9, by="fallback", faults=(FaultNote(fault="empty", detail="x"),))
    assert frames_of(record.model_copy(update={"decisions": (odd,)})).frames
