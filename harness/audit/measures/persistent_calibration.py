"""Diagnostics of Persistent Calibration: how an entrant plays, beyond what it scores, from records alone.

Owns the measures and their names. One pass over the records; what is kept does not grow with their number, only with
that of entrants and of pairs of them. Whether a seat foresaw the lighter sides is not among the measures: nobody is
asked for a prediction.

Regret in Persistent Calibration: what a weight would have scored elsewhere, all other seats as they played.

Owns the arithmetic for one placement of one seat. Knows neither records nor averages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import log2, sqrt
from types import MappingProxyType
from typing import NamedTuple

from weigh.games.persistent_calibration.moves import (
    EMPTY,
    HEAVIEST,
    LIGHTEST,
    PLACES,
    SCALES,
    Place,
    Placement,
    Totals,
    across,
    flips,
    lighter_places,
    side_of,
    totals_after,
)
from weigh.games.persistent_calibration.rules import DEALS, PERSISTENT_CALIBRATION, ROUNDS, PersistentCalibrationState
from weigh.games.registry import read_config
from weigh.games.replay import replay_states
from weigh.harness.audit.measures.means import Means, no_means
from weigh.harness.store.record import Record


def scale_points(place: Place, totals: Sequence[int], own: Sequence[int]) -> int:
    """What a seat that has put down `own` scores on the scale of `place`."""
    return sum(own[side] for side in (place, across(place)) if totals[side] < totals[across(side)])


def round_regret(put: Placement, totals: Totals, own: Totals, values: Iterable[int]) -> int:
    """Points that the best placement of this round would have scored in it beyond those of `put`; 0 if none is better.

    `totals` and `own` are those after the round, `values` what the seat could have put down.
    """
    without, rest = _moved(totals, put.place, -put.value), _moved(own, put.place, -put.value)
    standing = {place: scale_points(place, without, rest) for place in PLACES}

    def gained(place: Place, value: int) -> int:
        here = scale_points(place, _moved(without, place, value), _moved(rest, place, value))
        return here - standing[place]

    return max(gained(place, value) for place in PLACES for value in values) - gained(put.place, put.value)


def end_regret(put: Placement, totals: Sequence[Totals], own: Sequence[Totals]) -> int:
    """Points by the end that the same weight on the best side would have scored beyond those of `put`.

    `totals` and `own` are those after its round and each later one. What the seat put down otherwise stays as it was.
    """
    scored = [0] * len(PLACES)
    for sums, mine in zip(totals, own, strict=True):
        without, rest = _moved(sums, put.place, -put.value), _moved(mine, put.place, -put.value)
        for place in PLACES:
            moved = _moved(without, place, put.value), _moved(rest, place, put.value)
            scored[place] += scale_points(place, *moved) - scale_points(place, without, rest)
    return max(scored) - scored[put.place]


def _moved(totals: Sequence[int], place: Place, by: int) -> list[int]:
    changed = list(totals)
    changed[place] += by
    return changed


ENOUGH = 30
"""Rounds that two entrants must have played together for their correlation to count: five whole episodes."""

_TURNS = ROUNDS // len(DEALS)
"""Rounds that a hand lasts."""

MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "lighter_hit": "share of weights on the lighter side at the end of the round they were put down in (0 to 1)",
        **{
            f"lighter_hit_round_{number}": f"share of weights of round {number} on the lighter side at its end (0 to 1)"
            for number in range(1, ROUNDS + 1)
        },
        **{
            f"lighter_hit_weight_{value}": f"share of weights of value {value} on the lighter side at once (0 to 1)"
            for value in range(LIGHTEST, HEAVIEST + 1)
        },
        "weight_rounds_scored": "share of rounds that a weight of its own lay on a scale in which it scored (0 to 1)",
        "herding": "share of the other seats' weights of a round that went to the very side it chose (0 to 1)",
        "table_herfindahl": "Herfindahl index of the six sides in a round of its tables (1/6 even, 1 all on one)",
        "table_entropy": "entropy of the six sides in a round of its tables, in bits (0 to 2.58)",
        "side_herfindahl": "Herfindahl index of its own choices among the six sides, all episodes (1/6 to 1)",
        "side_entropy": "entropy of its own choices among the six sides, all episodes, in bits (0 to 2.58)",
        "loyalty": "share of weights put on the same side of the same scale as the one before (0 to 1)",
        "self_flip": "share of weights without which their side would not have been the heavier one (0 to 1)",
        "regret_round": "points of a round short of the best legal placement, the others as they played",
        "regret_end": "points by the end short of the best side for the same weight, all else as played",
        "chosen_lead": "how much lighter than the other its side was when it chose, from round 2 on, in weight",
        "chose_lighter": "share of weights put on a side that was lighter when it chose, from round 2 on (0 to 1)",
        "three_turn": "turn of a hand in which its 3 was put down (1 to 3)",
        "missed": "share of submissions that never came (0 to 1)",
        **{f"flips_{scale}": f"times scale {scale} tipped over in an episode of its tables" for scale in SCALES},
        "garnets_spent": "garnets spent in an episode",
        "garnets_used": "share spent of the garnets held at the start (0 to 1)",
        "side_correlation": f"highest correlation of its left and right with another's, over {ENOUGH} rounds or more",
    }
)
"""What each measure says, with its unit."""


class Correlation(NamedTuple):
    """How the sides of two entrants went together."""

    rounds: int
    """In which both put something down."""
    value: float | None
    """Of left and right as -1 and 1; None when one of them never changed sides."""


@dataclass(slots=True)
class _Entrant:
    """What is kept of one entrant."""

    means: Means = field(default_factory=no_means)
    choices: list[int] = field(default_factory=lambda: [0] * len(PLACES))


@dataclass(slots=True)
class _Pair:
    """Sums over the rounds of two entrants, with left as -1 and right as 1."""

    rounds: int = 0
    one: int = 0
    other: int = 0
    both: int = 0

    def add(self, one: int, other: int) -> None:
        self.rounds += 1
        self.one += one
        self.other += other
        self.both += one * other

    @property
    def correlation(self) -> Correlation:
        n, scatter = self.rounds, (self.rounds**2 - self.one**2) * (self.rounds**2 - self.other**2)
        value = (n * self.both - self.one * self.other) / sqrt(scatter) if scatter else None
        return Correlation(n, value)


_Pairs = defaultdict[tuple[str, str], _Pair]


def diagnose(records: Iterable[Record]) -> dict[str, dict[str, float | None]]:
    """Every measure of `MEANINGS` by entrant; None where nothing was observed. Records of other games are passed over.

    An entrant counts for each seat it has.
    """
    entrants: defaultdict[str, _Entrant] = defaultdict(_Entrant)
    pairs: _Pairs = defaultdict(_Pair)
    for record, states in _episodes(records):
        _add_pairs(pairs, record.entrants, states[-1])
        for seat, name in enumerate(record.entrants):
            _add_seat(entrants[name], states, seat)
    closest = _closest(pairs)
    return {name: _measures(entrant, closest.get(name)) for name, entrant in sorted(entrants.items())}


def side_correlations(records: Iterable[Record]) -> dict[tuple[str, str], Correlation]:
    """For each two entrants that met, in alphabetical order, how their left and right went together."""
    pairs: _Pairs = defaultdict(_Pair)
    for record, states in _episodes(records):
        _add_pairs(pairs, record.entrants, states[-1])
    return {names: pair.correlation for names, pair in sorted(pairs.items())}


def _episodes(records: Iterable[Record]) -> Iterator[tuple[Record, list[PersistentCalibrationState]]]:
    """Each record of this game with its positions, from the first on."""
    game = PERSISTENT_CALIBRATION
    for record in records:
        if record.game == game.name:
            states = replay_states(game, read_config(game, record.config), record.deal, list(record.moves))
            yield record, [state for state in states if isinstance(state, PersistentCalibrationState)]


def _add_pairs(pairs: _Pairs, names: tuple[str, ...], end: PersistentCalibrationState) -> None:
    for placed in end.rounds:
        sides = [(name, _sign(put)) for name, put in zip(names, placed, strict=True) if put]
        for (one, first), (other, second) in combinations(sorted(sides), 2):
            if one != other:
                pairs[one, other].add(first, second)


def _sign(put: Placement) -> int:
    return 1 if side_of(put.place) == "right" else -1


def _closest(pairs: _Pairs) -> dict[str, float]:
    """For each entrant the highest correlation with another."""
    closest: dict[str, float] = {}
    for names, pair in pairs.items():
        rounds, value = pair.correlation
        if value is not None and rounds >= ENOUGH:
            for name in names:
                closest[name] = max(value, closest.get(name, value))
    return closest


def _add_seat(entrant: _Entrant, states: list[PersistentCalibrationState], seat: int) -> None:
    end, means = states[-1], entrant.means
    placed = [put[seat] for put in end.rounds]
    own = _running(placed)
    for scale in SCALES:
        means[f"flips_{scale}"].add(sum(scale in tipped for tipped in flips(end.totals)))
    spent, held = sum(abs(put.modify) for put in placed if put), end.table.starting_garnets[seat]
    means["garnets_spent"].add(spent)
    means["garnets_used"].add(spent, held)
    before: Placement | None = None
    for number, put in enumerate(placed):
        _add_table(means, [other for other in end.rounds[number] if other])
        means["missed"].add(put is None)
        if put is None:
            continue
        entrant.choices[put.place] += 1
        if before is not None:
            means["loyalty"].add(put.place == before.place)
        before = put
        others = [other for place, other in enumerate(end.rounds[number]) if other and place != seat]
        means["herding"].add(sum(other.place == put.place for other in others), len(others))
        if put.weight == HEAVIEST:
            means["three_turn"].add(number % _TURNS + 1)
        _add_weight(means, put, number, end.totals)
        means["regret_round"].add(round_regret(put, end.totals[number], own[number], states[number].legal(seat).values))
        means["regret_end"].add(end_regret(put, end.totals[number:], own[number:]))


def _running(placed: list[Placement | None]) -> list[Totals]:
    """What one seat has put down by the end of each round."""
    own = [EMPTY]
    for put in placed:
        own.append(totals_after(own[-1], (put,)))
    return own[1:]


def _add_table(means: Means, placed: list[Placement]) -> None:
    """How a round's weights were scattered over the sides."""
    if placed:
        counts = [sum(put.place == place for put in placed) for place in PLACES]
        means["table_herfindahl"].add(_herfindahl(counts))
        means["table_entropy"].add(_entropy(counts))


def _add_weight(means: Means, put: Placement, number: int, totals: tuple[Totals, ...]) -> None:
    """What became of one weight: at once, and until the end."""
    place, after = put.place, totals[number]
    hit = place in lighter_places(after)
    for name in ("lighter_hit", f"lighter_hit_round_{number + 1}", f"lighter_hit_weight_{put.value}"):
        means[name].add(hit)
    lay = totals[number:]
    means["weight_rounds_scored"].add(sum(place in lighter_places(sums) for sums in lay), len(lay))
    lead = after[across(place)] - after[place]
    means["self_flip"].add(lead < 0 <= lead + put.value)
    if number:
        lead = totals[number - 1][across(place)] - totals[number - 1][place]
        means["chosen_lead"].add(lead)
        means["chose_lighter"].add(lead > 0)


def _measures(entrant: _Entrant, closest: float | None) -> dict[str, float | None]:
    chose = any(entrant.choices)
    known = {
        "side_herfindahl": _herfindahl(entrant.choices) if chose else None,
        "side_entropy": _entropy(entrant.choices) if chose else None,
        "side_correlation": closest,
    }
    return {name: known[name] if name in known else entrant.means[name].value for name in MEANINGS}


def _herfindahl(counts: list[int]) -> float:
    return sum((count / sum(counts)) ** 2 for count in counts)


def _entropy(counts: list[int]) -> float:
    return sum(count / sum(counts) * log2(sum(counts) / count) for count in counts if count)
