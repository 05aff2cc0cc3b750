"""What to know about a ladder before its numbers are believed, and what marks one of its rows.

Owns the checks that need no estimate of their own. Changes no number; the words are in `warning_words`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import isnan
from typing import TYPE_CHECKING, Any

from weigh.harness.config.thresholds import CUT_ANSWERS, CUT_GAP, HOLLOW_ANSWERS, HOLLOW_RATE, REFUSALS_IN_A_ROW
from weigh.harness.results.ranking.rows import episodes_of, starts_of
from weigh.harness.results.ranking.standings import Lead, Standing
from weigh.harness.results.ranking.warning_words import LadderWarning
from weigh.harness.stats.clustered import ROUNDING
from weigh.harness.stats.power import ZERO

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
    return standing.reliability.refusal_streak >= REFUSALS_IN_A_ROW


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


def warnings_of(
    rows: GameRows,
    standings: Sequence[Standing],
    lead: Lead | None,
    claims: int,
    estimates: Estimates,
) -> tuple[LadderWarning, ...]:
    """Everything that applies to one game's ladder, the weightiest first. `claims` is in how many games of the ladder
    somebody might be called first."""
    uneven = tuple(_uneven_schedule(standings, estimates))
    return (
        *_partial(rows),
        *uneven,
        *(() if uneven else _not_separated(lead, standings, estimates)),
        *_several_games(standings, claims),
        *_few_blocks(rows, standings, estimates),
        *_no_spread(rows, standings),
        *_no_baseline(standings),
        *_voids(rows, standings),
        *_left_out(rows),
        *_tables(rows),
        *_meetings(rows, estimates),
        *_not_in_all_runs(rows),
        *_by_entrant(rows, standings),
        *_unequal_truncation(standings),
        *_reused(standings),
        *_policies(rows, standings),
    )


def _partial(rows: GameRows) -> Iterator[LadderWarning]:
    done, expected = episodes_of(rows.seats), rows.ordered.episodes
    if expected is not None and done < expected:
        yield LadderWarning("partial", {"done": done, "expected": expected})


def _uneven_schedule(standings: Sequence[Standing], estimates: Estimates) -> Iterator[LadderWarning]:
    """Where the adjusted mean puts somebody else first than the mean does."""
    if not estimates.linked or estimates.even:
        return
    ranked = [(s.adjusted, s) for s in standings if s.rank is not None and s.adjusted is not None]
    if not ranked or ranked[0][1].mean is None:
        return
    (least, leader), most = ranked[0], max(adjusted for adjusted, _ in ranked)
    if most - least > ROUNDING:
        best = next(standing for adjusted, standing in ranked if most - adjusted <= ROUNDING)
        means = {"mean": ranked[0][1].mean, "most": most, "least": least}
        yield LadderWarning("uneven_schedule", {"leader": leader.entrant, "best": best.entrant, **means})


def _not_separated(lead: Lead | None, standings: Sequence[Standing], estimates: Estimates) -> Iterator[LadderWarning]:
    if lead is None or not estimates.linked or _first_alone(standings):
        return
    values: dict[str, Any] = {
        "leader": lead.leader,
        "runner_up": lead.runner_up,
        "difference": lead.difference,
        "blocks": len(estimates.influence),
    }
    judged = all(s.interval is not None for s in standings if s.entrant in (lead.leader, lead.runner_up))
    if judged and lead.difference == 0:
        yield LadderWarning("not_separated", values, "equal")
    elif lead.interval is None:
        if judged:
            yield LadderWarning("not_separated", values, "agreeing")
    else:
        needed = lead.blocks_needed
        case = "near"
        if lead.interval.low > 0 and not estimates.even:
            case = "uneven"
        elif needed is None or needed > OUT_OF_REACH:
            case = "too_little"
        elif needed > values["blocks"]:
            case, values["needed"] = "more_blocks", needed
        yield LadderWarning("not_separated", {**values, "low": lead.interval.low, "high": lead.interval.high}, case)


def _several_games(standings: Sequence[Standing], claims: int) -> Iterator[LadderWarning]:
    leader = _first_alone(standings)
    if leader is None or leader.first or leader.first_p_value is None or leader.first_p_value_holm is None:
        return
    p = {"p": leader.first_p_value, "p_holm": leader.first_p_value_holm}
    yield LadderWarning("several_games", {"leader": leader.entrant, "games": claims, **p})


def _first_alone(standings: Sequence[Standing]) -> Standing | None:
    """Who is called first, or would be if there were no other game."""
    return next((s for s in standings if s.first_p_value is not None and s.rank_interval == (1, 1)), None)


def _few_blocks(rows: GameRows, standings: Sequence[Standing], estimates: Estimates) -> Iterator[LadderWarning]:
    """Why somebody who is ranked has no interval."""
    found: dict[str, list[str]] = {"lone": [], "agreeing": [], "explained": []}
    for standing in standings:
        if standing.rank is None or standing.interval is not None:
            continue
        i = rows.names.index(standing.entrant)
        why = "lone" if standing.blocks < 2 else "explained" if isnan(estimates.freedom[i]) else "agreeing"
        found[why].append(standing.entrant)
    for case, names in found.items():
        if names:
            yield LadderWarning("few_blocks", {"entrants": tuple(names)}, case)


def _no_spread(rows: GameRows, standings: Sequence[Standing]) -> Iterator[LadderWarning]:
    same = [s.entrant for s in standings if s.interval and s.interval.high - s.interval.low <= ZERO]
    if not same:
        return
    means = rows.scored.groupby(["entrant", "deals", "block"])["score"].mean().groupby("entrant")
    spread = means.max() - means.min()
    alike = tuple(name for name in same if spread[name] <= ZERO)
    explained = tuple(name for name in same if spread[name] > ZERO)
    if alike:
        yield LadderWarning("no_spread", {"entrants": alike}, "alike")
    if explained:
        yield LadderWarning("no_spread", {"entrants": explained}, "explained")


def _no_baseline(standings: Sequence[Standing]) -> Iterator[LadderWarning]:
    if any(s.episodes for s in standings) and not any(s.scripted and s.episodes for s in standings):
        yield LadderWarning("no_baseline", {})


def _voids(rows: GameRows, standings: Sequence[Standing]) -> Iterator[LadderWarning]:
    starts = starts_of(rows.voids)
    if not starts:
        return
    failed = sorted(
        (s for s in standings if s.reliability.voids_own), key=lambda s: (-s.reliability.voids_own, s.entrant)
    )
    whose = tuple({"entrant": s.entrant, "starts": s.reliability.voids_own} for s in failed)
    lost = set(zip(rows.voids["run"], rows.voids["episode"], strict=True))
    never = len(lost - set(zip(rows.seats["run"], rows.seats["episode"], strict=True)))
    rate = starts / (starts + episodes_of(rows.seats))
    case = "_".join(word for word, holds in (("whose", whose), ("never", never)) if holds)
    yield LadderWarning("voids", {"starts": starts, "rate": rate, "whose": whose, "never": never}, case)


def _left_out(rows: GameRows) -> Iterator[LadderWarning]:
    every, kept = episodes_of(rows.seats), episodes_of(rows.view)
    if every != kept:
        yield LadderWarning("left_out", {"left": every - kept, "episodes": every})
    missing = len(rows.view) - len(rows.scored)
    if missing:
        yield LadderWarning("unscored", {"missing": missing, "seats": len(rows.view), "scored": len(rows.scored)})


def _tables(rows: GameRows) -> Iterator[LadderWarning]:
    """A whole block has every one of its entrants in every seat equally often."""
    blocks = rows.scored.groupby(["run", "block"])
    wanted = blocks["entrant"].nunique() * blocks["seat"].nunique()
    cells = rows.scored.groupby(["run", "block", "entrant", "seat"]).size().groupby(["run", "block"])
    broken = int(((cells.size() != wanted) | (cells.min() != cells.max())).sum())
    if broken:
        yield LadderWarning("incomplete_blocks", {"broken": broken, "blocks": len(wanted)})
    runs = rows.scored.groupby("deals")["run"].nunique()
    shared = int(runs[runs > 1].sum())
    if shared:
        yield LadderWarning("shared_deals", {"runs": shared})
    sizes = sorted(set(rows.seats.groupby(["run", "episode"]).size()))
    if len(sizes) > 1:
        yield LadderWarning("mixed_tables", {"sizes": tuple(map(str, sizes))})


def _meetings(rows: GameRows, estimates: Estimates) -> Iterator[LadderWarning]:
    pairs = [int(estimates.meetings[a, b]) for a, b in combinations(range(len(estimates.meetings)), 2)]
    if len(set(pairs)) > 1:
        yield LadderWarning("uneven_meetings", {"fewest": min(pairs), "most": max(pairs)})
    groups: defaultdict[int, list[str]] = defaultdict(list)
    for name, group in zip(rows.names, estimates.group, strict=True):
        groups[int(group)].append(name)
    if len(groups) > 1:
        yield LadderWarning("not_linked", {"groups": tuple(", ".join(group) for group in groups.values())})


def _not_in_all_runs(rows: GameRows) -> Iterator[LadderWarning]:
    every = rows.scored["run"].unique()
    if len(every) < 2:
        return
    played = {name: tuple(sorted(mine.unique())) for name, mine in rows.scored.groupby("entrant", sort=True)["run"]}
    some = tuple({"entrant": name, "runs": runs} for name, runs in played.items() if len(runs) < len(every))
    if some:
        yield LadderWarning("not_in_all_runs", {"runs": len(every), "entrants": some})


def _by_entrant(rows: GameRows, standings: Sequence[Standing]) -> Iterator[LadderWarning]:
    """What holds for some entrants, each with its numbers."""
    beyond = tuple(
        {"entrant": s.entrant, "adjusted": s.adjusted}
        for s in standings
        if s.adjusted is not None and abs(s.adjusted) > rows.bound + ZERO
    )
    if beyond:
        yield LadderWarning("adjusted_beyond", {"bound": rows.bound, "entrants": beyond})
    unknown = tuple(
        {"entrant": s.entrant, "episodes": s.spend.cost_unknown_episodes}
        for s in standings
        if s.spend.cost_unknown_episodes
    )
    if unknown:
        yield LadderWarning("unknown_cost", {"entrants": unknown})
    asked = [(s, s.traffic) for s in standings if s.traffic]
    cut = tuple({"entrant": s.entrant, "calls": used.cut_prompt_calls} for s, used in asked if used.cut_prompt_calls)
    if cut:
        yield LadderWarning("cut_prompts", {"entrants": cut})
    empty = tuple({"entrant": s.entrant, "rate": used.reasoning_only_rate} for s, used in asked if hollow(s))
    if empty:
        yield LadderWarning("reasoning_only", {"entrants": empty})
    refused = tuple(
        {"entrant": s.entrant, "streak": s.reliability.refusal_streak, "refused": s.reliability.faults["refused"]}
        for s in standings
        if refused_in_a_row(s)
    )
    if refused:
        yield LadderWarning("refusals", {"entrants": refused})


def _unequal_truncation(standings: Sequence[Standing]) -> Iterator[LadderWarning]:
    shares = sorted((share, s.entrant) for s in standings if (share := truncation(s)) is not None)
    if len(shares) > 1 and shares[-1][0] - shares[0][0] >= CUT_GAP:
        (least, fair), (most, cut) = shares[0], shares[-1]
        yield LadderWarning("unequal_truncation", {"cut": cut, "most": most, "fair": fair, "least": least})


def _reused(standings: Sequence[Standing]) -> Iterator[LadderWarning]:
    found = tuple(
        {"entrant": s.entrant, "reused": s.traffic.reused_calls, "attempts": s.traffic.attempts}
        for s in standings
        if s.traffic and s.traffic.reused_calls
    )
    if found:
        yield LadderWarning("reused", {"entrants": found})


def _policies(rows: GameRows, standings: Sequence[Standing]) -> Iterator[LadderWarning]:
    for standing in standings:
        if standing.opponents == 1 and len(rows.names) > 2:
            yield LadderWarning("one_opponent", {"entrant": standing.entrant})
    names: defaultdict[str, list[str]] = defaultdict(list)
    for standing in standings:
        for policy in standing.policies:
            names[policy].append(standing.entrant)
    for same in sorted(names.values()):
        if len(same) > 1:
            yield LadderWarning("same_policy", {"names": len(same), "entrants": tuple(sorted(same))})
    for standing in standings:
        if len(standing.policies) > 1:
            yield LadderWarning("renamed_policy", {"entrant": standing.entrant, "policies": len(standing.policies)})
