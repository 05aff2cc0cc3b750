"""What to know about a ladder before its numbers are believed, a line each.

Owns the checks that need no estimate of their own and the wording of what they find. Changes no number.

What marks a row of a ladder: things that happened to an entrant and that its mean does not show.

Owns when a row is marked and with which word; `harness.results.ranking.warnings` says more of each below the table.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import isnan
from typing import TYPE_CHECKING

from weigh.harness.config.thresholds import CUT_ANSWERS, CUT_GAP, HOLLOW_ANSWERS, HOLLOW_RATE, REFUSALS_IN_A_ROW
from weigh.harness.results.ranking.rows import episodes_of, starts_of
from weigh.harness.results.ranking.standings import Caveat, CaveatKind, Lead, Standing
from weigh.harness.stats.clustered import LEAST_ALIKE, ROUNDING, ZERO

if TYPE_CHECKING:
    from weigh.harness.results.ranking.rows import GameRows
    from weigh.harness.stats.clustered import Estimates


def flags(standing: Standing) -> tuple[str, ...]:
    """The marks of one entrant, the weightiest first."""
    traffic = standing.traffic
    found = {
        "prompts cut": traffic is not None and traffic.cut_prompt_calls > 0,
        "refused": refused_in_a_row(standing),
        "no text": hollow(standing),
        "truncated": (truncation(standing) or 0.0) >= CUT_GAP,
        "reused": traffic is not None and traffic.reused_calls > 0,
    }
    return tuple(word for word, holds in found.items() if holds)


def refused_in_a_row(standing: Standing) -> bool:
    """Whether one of its seats was refused often enough in a row to be out of the game."""
    return standing.conduct.refusal_streak >= REFUSALS_IN_A_ROW


def hollow(standing: Standing) -> bool:
    """Whether too many answers held reasoning and no text."""
    traffic = standing.traffic
    if traffic is None or traffic.reasoning_only_rate is None:
        return False
    return traffic.brought >= HOLLOW_ANSWERS and traffic.reasoning_only_rate > HOLLOW_RATE


def truncation(standing: Standing) -> float | None:
    """The share of answers cut at the token cap, where there are enough of them to tell."""
    traffic = standing.traffic
    return None if traffic is None or traffic.brought < CUT_ANSWERS else traffic.truncation_rate


OUT_OF_REACH = 100_000
"""Blocks beyond which a difference is called too small to show."""


def caveats(
    rows: GameRows,
    standings: Sequence[Standing],
    lead: Lead | None,
    expected: int | None,
    claims: int,
    estimates: Estimates,
) -> tuple[Caveat, ...]:
    """Everything that applies to one game's ladder, the weightiest first. `claims` is in how many games of the ladder
    somebody might be called first."""
    found: list[tuple[CaveatKind, str | None]] = [
        ("partial", _partial(rows, expected)),
        ("uneven_schedule", uneven := _uneven_schedule(standings, estimates)),
        ("not_separated", None if uneven else _not_separated(lead, standings, estimates)),
        ("several_games", _several_games(standings, claims)),
        *(("few_blocks", text) for text in _few_blocks(rows, standings, estimates)),
        *(("no_spread", text) for text in _no_spread(rows, standings)),
        ("no_baseline", _no_baseline(standings)),
        ("voids", _voids(rows, standings)),
        ("left_out", _left_out(rows)),
        ("unscored", _unscored(rows)),
        ("incomplete_blocks", _incomplete_blocks(rows)),
        ("shared_deals", _shared_deals(rows)),
        ("mixed_tables", _mixed_tables(rows)),
        ("uneven_meetings", _uneven_meetings(estimates)),
        ("not_linked", _not_linked(rows, estimates)),
        ("not_in_all_runs", _not_in_all_runs(rows)),
        ("adjusted_beyond", _adjusted_beyond(rows, standings)),
        ("unknown_cost", _unknown_cost(standings)),
        ("cut_prompts", _cut_prompts(standings)),
        ("reasoning_only", _reasoning_only(standings)),
        ("refusals", _refusals(standings)),
        ("unequal_truncation", _unequal_truncation(standings)),
        ("reused", _reused(standings)),
    ]
    found += [("one_opponent", text) for text in _one_opponent(rows, standings)]
    found += [("same_policy", text) for text in _same_policy(standings)]
    found += [("renamed_policy", text) for text in _renamed_policy(standings)]
    return tuple(Caveat(kind, text) for kind, text in found if text is not None)


def _partial(rows: GameRows, expected: int | None) -> str | None:
    done = episodes_of(rows.seats)
    if expected is None or done >= expected:
        return None
    return f"{done} of {expected} episodes are finished; ranks may change"


def _uneven_schedule(standings: Sequence[Standing], estimates: Estimates) -> str | None:
    """Where the adjusted mean puts somebody else first than the mean does."""
    if not estimates.linked or estimates.even:
        return None
    ranked = [(s.adjusted, s) for s in standings if s.rank is not None and s.adjusted is not None]
    if not ranked or ranked[0][1].mean is None:
        return None
    (least, leader), most = ranked[0], max(adjusted for adjusted, _ in ranked)
    if most - least <= ROUNDING:
        return None
    best = next(standing for adjusted, standing in ranked if most - adjusted <= ROUNDING)
    return (
        f"nobody is called first: {leader.entrant} leads by mean ({leader.mean:+.3f}), and {best.entrant} by "
        f"opponent-adjusted mean ({most:+.3f}, {leader.entrant} {least:+.3f}): the schedule is uneven, and they met "
        "other opponents"
    )


def _not_separated(lead: Lead | None, standings: Sequence[Standing], estimates: Estimates) -> str | None:
    if lead is None or not estimates.linked or _first_alone(standings):
        return None
    blocks = len(estimates.influence)
    judged = all(s.interval is not None for s in standings if s.entrant in (lead.leader, lead.runner_up))
    if judged and lead.difference == 0:
        return f"nobody is called first: {lead.leader} and {lead.runner_up} have equal means"
    if judged and lead.interval is None:
        return (
            f"nobody is called first: {lead.leader} leads {lead.runner_up} by {lead.difference:.3f} in every block, "
            f"and fewer than {LEAST_ALIKE} blocks that all agree are no proof"
        )
    if lead.interval is None:
        return None
    sure = f"[{lead.interval.low:+.3f}, {lead.interval.high:+.3f}]"
    text = f"nobody is called first: {lead.leader} leads {lead.runner_up} by {lead.difference:.3f} {sure}"
    if lead.interval.low > 0 and not estimates.even:
        return (
            f"{text}; the schedule is uneven, so mean and opponent-adjusted mean must both put it ahead of everybody, "
            "and they do not surely"
        )
    needed = lead.blocks_needed
    if needed is None or needed > OUT_OF_REACH:
        return f"{text}, too little to show in any run that can be paid for"
    if needed > blocks:
        return f"{text}; so large a difference needs about {needed} blocks to show (there are {blocks})"
    return text


def _several_games(standings: Sequence[Standing], claims: int) -> str | None:
    leader = _first_alone(standings)
    if leader is None or leader.first:
        return None
    return (
        f"{leader.entrant} would be called first if this were the only game (p = {leader.first_p:.3f}); "
        f"among the leaders of {claims} games it is not (p = {leader.first_p_holm:.3f} by Holm)"
    )


def _first_alone(standings: Sequence[Standing]) -> Standing | None:
    """Who is called first, or would be if there were no other game."""
    return next((s for s in standings if s.first_p is not None and s.rank_interval == (1, 1)), None)


def _few_blocks(rows: GameRows, standings: Sequence[Standing], estimates: Estimates) -> Iterator[str]:
    """Why somebody who is ranked has no interval."""
    lone: list[str] = []
    agreeing: list[str] = []
    explained: list[str] = []
    for standing in standings:
        if standing.rank is None or standing.interval is not None:
            continue
        i = rows.names.index(standing.entrant)
        why = lone if standing.blocks < 2 else explained if isnan(estimates.freedom[i]) else agreeing
        why.append(standing.entrant)
    if lone:
        yield f"not enough blocks for an interval, which takes two or more: {_listed(lone)}"
    if agreeing:
        yield (
            f"no interval, because fewer than {LEAST_ALIKE} blocks that all agree are no proof "
            f"(equal entrants often give two or three alike): {_listed(agreeing)}"
        )
    if explained:
        yield (
            "no interval: so few blocks are explained by strengths alone, and nothing is left to judge luck by: "
            f"{_listed(explained)}"
        )


def _no_spread(rows: GameRows, standings: Sequence[Standing]) -> Iterator[str]:
    same = [s.entrant for s in standings if s.interval and s.interval.high - s.interval.low <= ZERO]
    if not same:
        return
    means = rows.scored.groupby(["entrant", "deals", "block"])["score"].mean().groupby("entrant")
    spread = means.max() - means.min()
    alike = [name for name in same if spread[name] <= ZERO]
    explained = [name for name in same if spread[name] > ZERO]
    if alike:
        yield f"every block gave the same score: play repeats itself, and more blocks add nothing: {_listed(alike)}"
    if explained:
        yield (
            "blocks differ only by who sat at the table: play repeats itself, and more blocks of the same tables add "
            f"nothing: {_listed(explained)}"
        )


def _no_baseline(standings: Sequence[Standing]) -> str | None:
    if not any(s.episodes for s in standings) or any(s.scripted and s.episodes for s in standings):
        return None
    return "no scripted entrant is on the ladder, so nothing shows what a score is worth; add match and random"


def _voids(rows: GameRows, standings: Sequence[Standing]) -> str | None:
    lost = starts_of(rows.voids)
    if not lost:
        return None
    failed = sorted((s for s in standings if s.conduct.voids_own), key=lambda s: (-s.conduct.voids_own, s.entrant))
    whose = ", ".join(f"{s.entrant} {s.conduct.voids_own}" for s in failed)
    text = f"{_some(lost, 'start')} ended by an outage and not rated"
    if whose:
        text += f"; whose provider failed: {whose}"
    never = _unreplayed(rows)
    return f"{text}; {_some(never, 'episode')} of them not replayed yet" if never else text


def _unreplayed(rows: GameRows) -> int:
    lost = set(zip(rows.voids["run"], rows.voids["episode"], strict=True))
    return len(lost - set(zip(rows.seats["run"], rows.seats["episode"], strict=True)))


def _left_out(rows: GameRows) -> str | None:
    every, kept = episodes_of(rows.seats), episodes_of(rows.view)
    if every == kept:
        return None
    return (
        f"{every - kept} of {every} episodes are left out because the fallback moved in them; "
        "the others are a selection, not a sample"
    )


def _unscored(rows: GameRows) -> str | None:
    missing = len(rows.view) - len(rows.scored)
    if not missing:
        return None
    return f"{missing} of {len(rows.view)} seat-episodes have no score; means are over the other {len(rows.scored)}"


def _incomplete_blocks(rows: GameRows) -> str | None:
    """A whole block has every one of its entrants in every seat equally often."""
    blocks = rows.scored.groupby(["run", "block"])
    wanted = blocks["entrant"].nunique() * blocks["seat"].nunique()
    cells = rows.scored.groupby(["run", "block", "entrant", "seat"]).size().groupby(["run", "block"])
    broken = int(((cells.size() != wanted) | (cells.min() != cells.max())).sum())
    if not broken:
        return None
    return f"{broken} of {len(wanted)} blocks are incomplete: in them not everybody played every seat"


def _shared_deals(rows: GameRows) -> str | None:
    runs = rows.scored.groupby("deals")["run"].nunique()
    shared = int(runs[runs > 1].sum())
    if not shared:
        return None
    return f"{shared} runs share their seeds with others, and so their deals: a block they share counts once"


def _mixed_tables(rows: GameRows) -> str | None:
    sizes = sorted(set(rows.seats.groupby(["run", "episode"]).size()))
    if len(sizes) < 2:
        return None
    return f"tables of {' and '.join(map(str, sizes))} seats are mixed, and their scores do not mean the same"


def _uneven_meetings(estimates: Estimates) -> str | None:
    pairs = [int(estimates.meetings[a, b]) for a, b in combinations(range(len(estimates.meetings)), 2)]
    if len(set(pairs)) < 2:
        return None
    return f"pairs met in {min(pairs)} to {max(pairs)} episodes: read the opponent-adjusted mean beside the mean"


def _not_linked(rows: GameRows, estimates: Estimates) -> str | None:
    groups: defaultdict[int, list[str]] = defaultdict(list)
    for name, group in zip(rows.names, estimates.group, strict=True):
        groups[int(group)].append(name)
    if len(groups) < 2:
        return None
    apart = " | ".join(", ".join(group) for group in groups.values())
    return (
        "nobody is called first, and there are no opponent-adjusted means: these groups never met, directly or through "
        f"others: {apart}"
    )


def _not_in_all_runs(rows: GameRows) -> str | None:
    every = rows.scored["run"].unique()
    if len(every) < 2:
        return None
    played = {name: sorted(mine.unique()) for name, mine in rows.scored.groupby("entrant", sort=True)["run"]}
    some = {name: runs for name, runs in played.items() if len(runs) < len(every)}
    if not some:
        return None
    who = "; ".join(f"{name} in {', '.join(runs)} only" for name, runs in some.items())
    return f"not everybody played in all {len(every)} runs, so opponents and deals differ: {who}"


def _adjusted_beyond(rows: GameRows, standings: Sequence[Standing]) -> str | None:
    bound = rows.bound
    beyond = [
        f"{s.entrant} {s.adjusted:+.3f}" for s in standings if s.adjusted is not None and abs(s.adjusted) > bound + ZERO
    ]
    if not beyond:
        return None
    return (
        f"opponent-adjusted means beyond the scores that can be had, [-{bound:g}, {bound:g}]: {_listed(beyond)}; "
        "strengths do not add up that far, so read their order, not their size"
    )


def _unknown_cost(standings: Sequence[Standing]) -> str | None:
    unknown = [s for s in standings if s.spend.cost_unknown_episodes]
    if not unknown:
        return None
    which = ", ".join(f"{s.entrant} in {_some(s.spend.cost_unknown_episodes, 'episode')}" for s in unknown)
    return f"the cost is unknown, and its total a lower bound: {which}"


def _cut_prompts(standings: Sequence[Standing]) -> str | None:
    found = [
        f"{s.entrant} in {_some(s.traffic.cut_prompt_calls, 'call')}"
        for s in standings
        if s.traffic and s.traffic.cut_prompt_calls
    ]
    if not found:
        return None
    return (
        "the server seems to have dropped the beginning of prompts, the rules first (it counted far fewer tokens than "
        f"they have): {_listed(found)}; give it a larger context"
    )


def _reasoning_only(standings: Sequence[Standing]) -> str | None:
    found = [
        f"{s.entrant} {s.traffic.reasoning_only_rate:.0%}"
        for s in standings
        if s.traffic and s.traffic.reasoning_only_rate is not None and hollow(s)
    ]
    if not found:
        return None
    return (
        f"answers were empty with reasoning beside them: {_listed(found)}; "
        "look at the server's reasoning parser: it may take the answer for reasoning"
    )


def _refusals(standings: Sequence[Standing]) -> str | None:
    found = [
        f"{s.entrant} {s.conduct.refusal_streak} attempts in a row ({s.conduct.faults['refused']} in all)"
        for s in standings
        if refused_in_a_row(s)
    ]
    if not found:
        return None
    return f"refused again and again at one table: {_listed(found)}; see whether another seat's words set it off"


def _unequal_truncation(standings: Sequence[Standing]) -> str | None:
    shares = sorted((share, s.entrant) for s in standings if (share := truncation(s)) is not None)
    if len(shares) < 2 or shares[-1][0] - shares[0][0] < CUT_GAP:
        return None
    (least, fair), (most, cut) = shares[0], shares[-1]
    return (
        f"answers are cut at the token cap unequally, {cut} {most:.0%} and {fair} {least:.0%}: that is no fair race; "
        f"raise the max_tokens of {cut}"
    )


def _reused(standings: Sequence[Standing]) -> str | None:
    found = [
        f"{s.entrant} {s.traffic.reused_calls} of {s.traffic.attempts}"
        for s in standings
        if s.traffic and s.traffic.reused_calls
    ]
    if not found:
        return None
    return f"attempts answered by an earlier run, which are no new evidence beside it: {_listed(found)}"


def _one_opponent(rows: GameRows, standings: Sequence[Standing]) -> Iterator[str]:
    if len(rows.names) < 3:
        return
    for standing in standings:
        if standing.opponents == 1:
            yield f"{standing.entrant} met one opponent only: its mean says nothing about the others"


def _same_policy(standings: Sequence[Standing]) -> Iterator[str]:
    names: defaultdict[str, list[str]] = defaultdict(list)
    for standing in standings:
        for policy in standing.policies:
            names[policy].append(standing.entrant)
    for same in sorted(names.values()):
        if len(same) > 1:
            yield f"one policy under {len(same)} names: {', '.join(sorted(same))}; what is between them is luck"


def _renamed_policy(standings: Sequence[Standing]) -> Iterator[str]:
    for standing in standings:
        if len(standing.policies) > 1:
            yield f"{standing.entrant} stood for {len(standing.policies)} different policies: its row mixes them"


def _some(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
