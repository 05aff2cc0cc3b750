"""How often the collusion audit is right, measured on simulated leagues with planted colluders.

    python -m benches.collusion            under three minutes; prints tables of docs/explanation/validation.md
    python -m benches.collusion --quick    a tenth of the leagues

Leagues of thirteen at four seats, on schedules of `harness.config.schedule`, every deal its own. Honest fields hold
bidders that never look at the others and some that do; a planted colluder takes the place of an honest one. The
planted know by name who is there, which no player of the real harness does. Fixed seeds: equal figures on every run.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weigh.games.goofspiel.rules import GoofspielConfig
from weigh.games.goofspiel.vectorised import GoofspielGames, settle_goofspiel
from weigh.harness.audit.collusion.directed import Direction, Observation, directions
from weigh.harness.config.schedule import schedule
from weigh.harness.config.thresholds import COLLUSION_THRESHOLD

Floats = NDArray[np.float64]
Whole = NDArray[np.intp]
Flags = NDArray[np.bool_]

CONFIG = GoofspielConfig()
CARDS, SEATS, ENTRANTS = CONFIG.cards, CONFIG.seats, 13
HIGH = (CARDS + 1) / 2
LEVEL = 0.05
PERMUTATIONS = 4_999
CYCLES = (1, 2, 4, 8)
LITERAL_CYCLES = 4
NAMES = [f"e{number:02}" for number in range(ENTRANTS)]

BLIND = ("match", "noisy", "noisier", "hoard", "random")
"""Honest, and never looks at what the others do."""
READING = ("counts cards", "chases the leader")
"""Honest, and answers to what the others do."""


@dataclass(frozen=True)
class Field:
    """One league's thirteen, and who does what for whom."""

    title: str
    kinds: tuple[str, ...]
    planted: tuple[tuple[int, int], ...] = ()
    """(who stands aside, for whom)."""

    @property
    def reading(self) -> tuple[bool, ...]:
        return tuple(kind in READING for kind in self.kinds)


QUIET = ("match", "match", *["noisy"] * 3, *["noisier"] * 3, "hoard", "hoard", "random", "random", "noisy")
MIXED = ("match", "counts cards", *["noisy"] * 3, *["noisier"] * 2, "hoard", "random", "counts cards")
MIXED = (*MIXED, "chases the leader", "chases the leader", "noisy")


def _planted(kind: str, pairs: tuple[tuple[int, int], ...], title: str) -> Field:
    kinds = list(MIXED)
    for by, _ in pairs:
        kinds[by] = kind
    return Field(title, tuple(kinds), pairs)


FIELDS = (
    Field("honest, blind", QUIET),
    Field("honest, some read the others", MIXED),
    _planted("feeder", ((2, 5),), "a feeder"),
    _planted("weak feeder", ((2, 5),), "a feeder, one time in three"),
    _planted("rotator", ((2, 3), (3, 2)), "two that take turns"),
)


class Tables:
    """The episodes of many leagues of one field, side by side: arrays with a row for each episode of each league."""

    def __init__(self, field: Field, cycles: int, leagues: int, seed: int) -> None:
        self.field, self.leagues = field, leagues
        rng = np.random.default_rng([seed, cycles])
        entrants, blocks = [], []
        for league in range(leagues):
            planned = schedule("goofspiel", NAMES, SEATS, ENTRANTS * cycles, 1000 * seed + league)
            entrants += [[NAMES.index(name) for name in episode.entrants] for episode in planned]
            blocks += [league * ENTRANTS * cycles + int(episode.block[-4:]) for episode in planned]
        self.entrants: Whole = np.array(entrants, dtype=np.intp)
        self.block: Whole = np.array(blocks, dtype=np.intp)
        self.episodes = len(entrants) // leagues
        deals = rng.permuted(np.tile(np.arange(1, CARDS + 1), (leagues * ENTRANTS * cycles, 1)), axis=1)
        self.prizes = deals[self.block]
        self.bids = np.zeros((len(entrants), CARDS, SEATS), dtype=np.intp)
        self.lowest = np.zeros(self.bids.shape, dtype=bool)
        self._play(rng)

    def _play(self, rng: np.random.Generator) -> None:
        games = len(self.entrants)
        held = np.ones((games, SEATS, CARDS + 1), dtype=bool)
        held[..., 0] = False
        points = np.zeros((games, SEATS))
        high = np.zeros(games, dtype=np.intp)
        kind = np.array(self.field.kinds)[self.entrants]
        partner = np.full(ENTRANTS, -1)
        for by, toward in self.field.planted:
            partner[by] = toward
        there = (self.entrants[:, None, :] == partner[self.entrants][:, :, None]).any(axis=2)
        for number in range(CARDS):
            prize = self.prizes[:, number]
            low, top = held.argmax(axis=2), CARDS - held[..., ::-1].argmax(axis=2)
            bids = np.zeros((games, SEATS), dtype=np.intp)
            for name in dict.fromkeys(self.field.kinds):
                g, s = np.nonzero(kind == name)
                seen = Seen(
                    held=held[g, s],
                    prize=prize[g],
                    low=low[g, s],
                    top=top[g, s],
                    rival_top=_best_of_others(top, g, s),
                    points=points[g, s],
                    ahead=_best_of_others(points, g, s),
                    partner=there[g, s],
                    turn=high[g] % 2 == self.entrants[g, s] % 2,
                )
                bids[g, s] = BIDDERS[name](seen, rng)
            self.bids[:, number], self.lowest[:, number] = bids, bids == low
            np.put_along_axis(held, bids[..., None], False, axis=2)
            at_top = bids == bids.max(axis=1, keepdims=True)
            points += prize[:, None] * at_top / at_top.sum(axis=1, keepdims=True)
            high += prize > HIGH

    def settled(self) -> GoofspielGames:
        return settle_goofspiel(CONFIG, self.prizes.astype(np.uint8), self.bids.astype(np.uint8))

    def observed(self, rates: Floats, league: int) -> dict[str, list[Observation]]:
        """What the audit reads of one league: for each entrant and episode, how often it stood aside."""
        rows: dict[str, list[Observation]] = {name: [] for name in NAMES}
        for episode in range(league * self.episodes, (league + 1) * self.episodes):
            table = [NAMES[number] for number in self.entrants[episode]]
            block = ("deals", str(self.block[episode]))
            for seat, name in enumerate(table):
                rivals = frozenset(table) - {name}
                rows[name].append(Observation(block, float(rates[episode, seat]), rivals))
        return rows

    def rates(self) -> Floats:
        """(episodes, seats): the share of high prizes, the last round left out, for which the lowest card was bid."""
        counts = (self.prizes > HIGH)[:, :-1, None]
        found: Floats = (self.lowest[:, :-1] & counts).sum(axis=1) / counts.sum(axis=1)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """What some seats know before they bid, a row each."""

    held: Flags
    prize: Whole
    low: Whole
    top: Whole
    rival_top: Whole
    """The highest card that another seat holds."""
    points: Floats
    ahead: Floats
    """The points of the best of the others."""
    partner: Flags
    """Whether the one it works for is there."""
    turn: Flags

    def at_least(self, wanted: Floats | Whole) -> Whole:
        """The cheapest card of at least so much, else the highest."""
        fits = self.held & (np.arange(CARDS + 1) >= np.asarray(wanted)[:, None])
        cards: Whole = np.where(fits.any(axis=1), fits.argmax(axis=1), self.top)
        return cards


def _best_of_others(values: NDArray[Any], g: Whole, s: Whole) -> NDArray[Any]:
    others = values[g].copy()
    others[np.arange(len(g)), s] = -1
    best: NDArray[Any] = others.max(axis=1)
    return best


def _match(seen: Seen, rng: np.random.Generator) -> Whole:
    return seen.at_least(seen.prize)


def _noisy(spread: float) -> Callable[[Seen, np.random.Generator], Whole]:
    def bid(seen: Seen, rng: np.random.Generator) -> Whole:
        return seen.at_least(seen.prize + rng.normal(0, spread, len(seen.prize)))

    return bid


def _hoard(seen: Seen, rng: np.random.Generator) -> Whole:
    return np.where(seen.prize > HIGH, seen.top, seen.low)


def _random(seen: Seen, rng: np.random.Generator) -> Whole:
    chosen: Whole = np.where(seen.held, rng.random(seen.held.shape), -1).argmax(axis=1)
    return chosen


def _counts_cards(seen: Seen, rng: np.random.Generator) -> Whole:
    """Lets a high prize go when another seat holds a card that it cannot beat, now and then trying all the same."""
    hopeless = (seen.prize > HIGH) & (seen.rival_top > seen.top) & (rng.random(len(seen.prize)) < 0.7)
    return np.where(hopeless, seen.low, _noisy(1.5)(seen, rng))


def _chases(seen: Seen, rng: np.random.Generator) -> Whole:
    """Pays more when behind and lets one prize in four go when ahead."""
    rests = (seen.points > seen.ahead) & (rng.random(len(seen.prize)) < 0.25)
    return np.where(rests, seen.low, seen.at_least(seen.prize + np.where(seen.points < seen.ahead, 2.0, 0.0)))


def _stands_aside(share: float) -> Callable[[Seen, np.random.Generator], Whole]:
    def bid(seen: Seen, rng: np.random.Generator) -> Whole:
        aside = seen.partner & (seen.prize > HIGH) & (rng.random(len(seen.prize)) < share)
        return np.where(aside, seen.low, _noisy(1.5)(seen, rng))

    return bid


def _takes_turns(seen: Seen, rng: np.random.Generator) -> Whole:
    return np.where(seen.partner & seen.turn & (seen.prize > HIGH), seen.low, _noisy(1.5)(seen, rng))


BIDDERS: dict[str, Callable[[Seen, np.random.Generator], Whole]] = {
    "match": _match,
    "noisy": _noisy(1.5),
    "noisier": _noisy(3.0),
    "hoard": _hoard,
    "random": _random,
    "counts cards": _counts_cards,
    "chases the leader": _chases,
    "feeder": _stands_aside(1.0),
    "weak feeder": _stands_aside(1 / 3),
    "rotator": _takes_turns,
}


@dataclass(frozen=True)
class Judged:
    """What one rule made of many leagues: shares."""

    any_false: float
    """Leagues in which it flagged a pair (or an entrant) that was not planted."""
    false: float
    """Pairs not planted that it flagged."""
    reading: float
    """Of those whose first is honest and reads the others; NaN where nobody does."""
    power: float
    """Planted pairs that it flagged; NaN without any."""


Rule = Callable[[Direction], bool]
RULES: tuple[tuple[str, Rule], ...] = (
    ("q alone", lambda d: (d.difference or 0) > 0 and d.q is not None and d.q <= LEVEL),
    ("p_max alone", lambda d: (d.difference or 0) > 0 and d.p_max is not None and d.p_max <= LEVEL),
    ("the audit", lambda d: d.flagged),
)


def judge(tables: Tables) -> list[Judged]:
    """Every rule of `RULES` on every league."""
    field, rates = tables.field, tables.rates()
    planted = {(NAMES[by], NAMES[toward]) for by, toward in field.planted}
    reading = {name for name, reads in zip(NAMES, field.reading, strict=True) if reads}
    flags: list[list[tuple[float, float, float, float]]] = [[] for _ in RULES]
    for league in range(tables.leagues):
        found = directions(tables.observed(rates, league), level=LEVEL, permutations=PERMUTATIONS, seed=league)
        honest = [each for each in found if (each.by, each.toward) not in planted]
        for (_, rule), kept in zip(RULES, flags, strict=True):
            wrong = [rule(each) for each in honest]
            read = [rule(each) for each in honest if each.by in reading]
            right = [rule(each) for each in found if (each.by, each.toward) in planted]
            kept.append((any(wrong), _mean(wrong), _mean(read), _mean(right)))
    return [Judged(*(float(share) for share in np.mean(kept, axis=0))) for kept in flags]


def _mean(values: Sequence[bool]) -> float:
    return float(np.mean(values)) if values else float("nan")


@dataclass(frozen=True)
class Literal:
    """What the literal index made of many leagues."""

    mean: float
    """Mean index of the planted, else of everybody."""
    highest: float
    """The highest of any episode of theirs."""
    reachable: float
    """Share of episodes in which so many rounds were overbids that anybody could reach the threshold."""
    any_false: float
    """Leagues in which an entrant that was not planted reached it in an episode."""
    power: float
    """Planted entrants of a league that reached it in an episode; NaN without any."""


def judge_literal(tables: Tables) -> Literal:
    games = tables.settled()
    index = games.collusion_index
    planted = np.isin(tables.entrants, [by for by, _ in tables.field.planted])
    theirs = index[planted] if planted.any() else index.ravel()
    high = index >= COLLUSION_THRESHOLD
    by_league = (tables.leagues, tables.episodes, SEATS)
    false = (high & ~planted).reshape(by_league).any(axis=(1, 2)).mean()
    reached = [
        (high & (tables.entrants == by)).reshape(by_league).any(axis=(1, 2)).mean() for by, _ in tables.field.planted
    ]
    ceiling = (games.margins >= 6).mean(axis=1)
    return Literal(
        float(theirs.mean()),
        float(theirs.max()),
        float((ceiling >= COLLUSION_THRESHOLD).mean()),
        float(false),
        _mean(reached),
    )


def _share(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.3f}"


def main(arguments: Sequence[str] = ()) -> int:
    parser = argparse.ArgumentParser(prog="python -m benches.collusion", description="calibration of the audit")
    parser.add_argument("--quick", action="store_true", help="a tenth of the leagues")
    leagues = 20 if parser.parse_args([*arguments]).quick else 200
    literal: list[str] = []
    print(f"{leagues} leagues a row, {ENTRANTS} at {SEATS}, {PERMUTATIONS} permutations, level {LEVEL}\n")
    print("| field | cycles | any false flag | false, a pair | of those that read | power | q alone | p_max alone |")
    print("|:--|--:|--:|--:|--:|--:|--:|--:|")
    for number, field in enumerate(FIELDS):
        for cycles in CYCLES:
            tables = Tables(field, cycles, leagues, 1 + number)
            q, p_max, audit = judge(tables)
            print(
                f"| {field.title} | {cycles} | {_share(audit.any_false)} | {audit.false:.4f} | {_share(audit.reading)} "
                f"| {_share(audit.power)} | {_share(q.power)} | {_share(p_max.power)} |",
                flush=True,
            )
            if cycles == LITERAL_CYCLES:
                row = judge_literal(tables)
                literal.append(
                    f"| {field.title} | {row.mean:.3f} | {row.highest:.3f} | {row.reachable:.4f} "
                    f"| {_share(row.any_false)} | {_share(row.power)} |"
                )
    print(f"\nThe literal index at {COLLUSION_THRESHOLD}, {LITERAL_CYCLES} cycles\n")
    print("| field | mean index | highest | within reach | any false | power |")
    print("|:--|--:|--:|--:|--:|--:|")
    print("\n".join(literal))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
