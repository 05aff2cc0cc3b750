"""Pilot episodes: a few of a ladder's tables, played offline to see which questions would be asked.

Owns which episodes are taken, on which deals, and what is measured of them. The deals come from streams of their own:
no pilot shows anything of a deal that the run will be played on. Asks no model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from statistics import fmean

from weigh.harness.config.schedule import Episode
from weigh.harness.planning.stand_in import Asked, StandIn, StoodIn
from weigh.harness.run.offline import PURPOSE, played
from weigh.harness.run.runner import Division
from weigh.policies.contract import Policy
from weigh.policies.scripted.registry import scripted, yardsticks

EACH = 9
"""Pilot episodes in which every prompted entrant sits: three policies move for the models, seated in three ways."""


@dataclass(frozen=True, slots=True)
class Pilot:
    """One pilot episode."""

    entrants: tuple[str, ...]
    """By seat."""
    acting: tuple[tuple[int, ...], ...]
    """The seats that moved, step by step."""
    asked: tuple[Asked, ...]
    """Every question a model would have been asked."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """What one entrant's seats were asked in the pilots of one game: means over its decisions."""

    seats: int
    """Seat-episodes."""
    decisions: float
    """Per seat-episode."""
    fewest: int
    most: int
    """Decisions of a seat-episode: the range."""
    characters: float
    """Of a first attempt's prompt."""
    retry_characters: float
    """Of the longest prompt of a second attempt."""
    answer_characters: float


def chosen(episodes: Sequence[Episode], prompted: Sequence[str]) -> list[Episode]:
    """The tables of one game that pilots are played at: as they come, and again where they are few, until every
    prompted entrant that has a seat sat in EACH."""
    seated = {name for episode in episodes for name in episode.entrants}
    need = {name: EACH for name in prompted if name in seated}
    taken: list[Episode] = []
    todo = cycle(episodes)
    while need:
        episode = next(todo)
        if not need.keys().isdisjoint(episode.entrants):
            taken.append(episode)
            sat = Counter(episode.entrants)
            need = {name: left - sat[name] for name, left in need.items() if left > sat[name]}
    return taken


async def play_pilots(division: Division, episodes: Sequence[Episode], seed: int) -> tuple[Pilot, ...]:
    """Play pilots for the episodes of one game that `chosen` takes. None without a prompted entrant."""
    prompted = [name for name, policy in division.policies.items() if policy.model is not None]
    # Of an extended run, an entrant that left still stands in episodes that were played.
    known = [episode for episode in episodes if division.policies.keys() >= set(episode.entrants)]
    return tuple([await _play(division, episode, n, seed) for n, episode in enumerate(chosen(known, prompted))])


async def _play(division: Division, episode: Episode, number: int, seed: int) -> Pilot:
    """The scripted policies that show what a score is worth move for the models: all seats alike, then by turns, for
    how long a game is depends on who meets whom."""
    movers = yardsticks(division.game.name)
    turn = number // len(movers)
    policies: list[Policy] = []
    for seat, name in enumerate(episode.entrants):
        policy = division.policies[name]
        mover = scripted(division.game.name, movers[(number + seat * turn) % len(movers)])
        policies.append(policy if policy.model is None else StoodIn(policy, mover))
    lines = {seat: StandIn() for seat, policy in enumerate(policies) if policy.model is not None}
    record = await played(division, policies, f"{PURPOSE}/{episode.game}/{number}", number, seed, lines)
    steps: dict[int, list[int]] = {}
    for decision in record.decisions:
        steps.setdefault(decision.step, []).append(decision.seat)
    return Pilot(
        entrants=episode.entrants,
        acting=tuple(map(tuple, steps.values())),
        asked=tuple(asked for line in lines.values() for asked in line.asked),
    )


def sizes_of(entrant: str, pilots: Sequence[Pilot]) -> Sizes | None:
    """What `entrant` was asked in the pilots of one game; None when it sat in none."""
    asked: list[Asked] = []
    counts: list[int] = []
    for pilot in pilots:
        for seat, name in enumerate(pilot.entrants):
            if name == entrant:
                mine = [one for one in pilot.asked if one.seat == seat]
                counts.append(len(mine))
                asked += mine
    if not asked:
        return None
    return Sizes(
        seats=len(counts),
        decisions=fmean(counts),
        fewest=min(counts),
        most=max(counts),
        characters=fmean(one.characters for one in asked),
        retry_characters=fmean(one.retry_characters for one in asked),
        answer_characters=fmean(one.answer_characters for one in asked),
    )
