"""What is said about a ladder before its numbers are believed."""

import json

from tests.harness.report.printed import markdown, plain_lines, printed
from tests.harness.results.ladder_frames import (
    FOUR,
    by_strength,
    four,
    game_of,
    kinds,
    planned,
    row,
    seats,
    text,
    voids,
)
from weigh.harness.results.ranking.ladder import rank
from weigh.harness.results.ranking.rows import Ordered


def test_m16_one_opponent_is_pointed_out():
    episodes = [*planned(["ann", "bob"], blocks=3, game="x"), *planned(["bob", "cy"], blocks=3, game="y")]
    frame = seats(episodes, by_strength(FOUR))
    frame["game"] = "g"
    ladder = rank(frame)
    assert [c.text.split()[0] for c in game_of(ladder).warnings if c.kind == "one_opponent"] == ["ann", "cy"]
    assert [row(ladder, name).opponents for name in ("ann", "bob", "cy")] == [1, 2, 1]


def test_entrants_never_linked_have_no_adjusted_mean():
    episodes = [*planned(["ann", "bob"], blocks=3, game="x"), *planned(["cy", "dan"], blocks=3, game="y")]
    frame = seats(episodes, by_strength(FOUR))
    frame["game"] = "g"
    ladder = rank(frame)
    assert {standing.adjusted for standing in game_of(ladder).standings} == {None}
    assert text(ladder, "not_linked").endswith("ann, bob | cy, dan")


def test_o34_a_partial_run_says_how_partial_it_is():
    frame = four()
    done = frame[frame.episode.isin(sorted(set(frame.episode))[:5])]
    ladder = rank(done, ordered={"g": Ordered(10)})
    assert (game_of(ladder).episodes, game_of(ladder).expected) == (5, 10)
    assert text(ladder, "partial") == "5 of 10 episodes are finished; ranks may change"
    assert text(ladder, "incomplete_blocks").startswith("1 of 2 blocks are incomplete")
    assert "partial" not in kinds(rank(frame, ordered={"g": Ordered(24)}))


def test_o34_a_game_of_which_nothing_is_finished_is_there_all_the_same():
    episodes = planned(list(FOUR), 4, 1)
    ladder = rank(seats([], by_strength(FOUR)), voids([(episodes[0], [0])]), ordered={"g": Ordered(4), "h": Ordered(4)})
    lost, ordered = ladder.games
    assert (lost.game, lost.episodes, lost.voids, len(lost.standings)) == ("g", 0, 1, 4)
    assert {(s.rank, s.mean, s.unranked) for s in lost.standings} == {(None, None, "no scored episode")}
    assert (ordered.game, ordered.episodes, ordered.expected, ordered.standings) == ("h", 0, 4, ())
    assert rank(seats([], by_strength(FOUR))).games == ()


def test_m31_a_ladder_without_scripted_rows_is_flagged():
    assert "no_baseline" not in kinds(rank(four()))
    ladder = rank(seats(planned(list(FOUR), 4, 6), by_strength(FOUR)))
    assert text(ladder, "no_baseline").endswith("add match and random")
    assert row(rank(four()), "dan").scripted
    assert not row(rank(four()), "ann").scripted


def test_one_policy_under_two_names_and_two_policies_under_one_are_pointed_out():
    frame = four(changes={"ann": {"policy": "same"}, "bob": {"policy": "same"}})
    assert text(rank(frame), "same_policy") == "one policy under 2 names: ann, bob; what is between them is luck"
    frame = four()
    frame.loc[(frame.entrant == "cy") & (frame.index < 20), "policy"] = "older"
    ladder = rank(frame)
    assert text(ladder, "renamed_policy") == "cy stood for 2 different policies: its row mixes them"
    assert row(ladder, "cy").policies == ("digest of cy", "older")


def test_o34_how_partial_a_run_is_stands_in_every_form():
    frame = four()
    done = frame[frame.episode.isin(sorted(set(frame.episode))[:5])]
    ladder = rank(done, ordered={"g": Ordered(10)})
    said = "5 of 10 episodes are finished; ranks may change"
    assert f"note: {said}" in plain_lines(ladder)
    assert plain_lines(ladder)[0].startswith("g: 5 of 10 episodes")
    assert f"- note: {said}" in markdown(ladder).splitlines()
    assert markdown(ladder).startswith("### g: 5 of 10 episodes")
    assert f"note: {said}" in printed(ladder, 100).splitlines()
    (game,) = json.loads(json.dumps(ladder.to_json()))["games"]
    assert (game["episodes"], game["expected"]) == (5, 10)
    assert {"kind": "partial", "text": said} in game["warnings"]


def test_why_there_is_no_interval_is_told_by_its_true_cause():
    one_block = rank(seats(planned(list(FOUR), 4, 1), by_strength(FOUR)))
    assert text(one_block, "few_blocks") == (
        "not enough blocks for an interval, which takes two or more: ann, bob, cy, dan"
    )
    alike = rank(seats(planned(["ann", "bob"], blocks=4), lambda e, s: 1.0 if e.entrants[s] == "ann" else -1.0))
    assert text(alike, "few_blocks") == (
        "no interval, because fewer than 5 blocks that all agree are no proof "
        "(equal entrants often give two or three alike): ann, bob"
    )
    chain = [("ann", "bob"), ("bob", "cy"), ("cy", "dan")]
    frame = seats(
        [episode for n, pair in enumerate(chain) for episode in planned(pair, blocks=1, game=str(n))], by_strength(FOUR)
    )
    frame["episode"], frame["block"], frame["game"] = frame.game + frame.episode, frame.game + frame.block, "g"
    causes = [caveat.text for caveat in game_of(rank(frame)).warnings if caveat.kind == "few_blocks"]
    assert causes == [
        "not enough blocks for an interval, which takes two or more: ann, dan",
        "no interval: so few blocks are explained by strengths alone, and nothing is left to judge luck by: cy, bob",
    ]
