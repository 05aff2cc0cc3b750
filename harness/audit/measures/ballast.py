"""Diagnostics of Ballast: what an entrant claims, whom it calls, and what comes of both, from records alone.

Owns the measures and their names. One pass over the records; what is kept does not grow with their number. Moves that
the fallback made are not the entrant's: its claims and challenges are left out, and only the result of the episode
counts. A win rate by the number of lies is a correlation, and so is everything here: whether claims are read at all, a
run must find out in which the same policies play with claims forced, forbidden or hidden.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import log2
from types import MappingProxyType

from weigh.games.ballast.moves import Action, Challenge, Discard, Place
from weigh.games.ballast.rules import BALLAST, BallastState
from weigh.games.game import Seat
from weigh.games.registry import read_config
from weigh.games.replay import replay_states
from weigh.harness.audit.measures.means import Means, no_means
from weigh.harness.store.record import Record

_WEIGHTS = range(1, 8)
_SCALES = range(5)
"""Those of the largest config."""

MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "lie_rate": "share of its claims that are false (0 to 1)",
        **{f"lie_rate_weight_{value}": f"share of its claims for weight {value} that are false" for value in _WEIGHTS},
        **{
            f"lie_rate_placement_{number}": f"share of false claims at its placement number {number} of a game"
            for number in _WEIGHTS
        },
        **{f"lie_rate_scale_{scale}": f"share of its claims on scale {scale} that are false" for scale in _SCALES},
        "lies_caught": "share of its false claims that were challenged (0 to 1)",
        "claim_bias": "mean of announced minus true value, in weight",
        "claim_information": "mutual information of true and announced value, in bits; few claims make it look larger",
        **{f"honest_at_{value}": f"share of its claims of {value} that are true (0 to 1)" for value in _WEIGHTS},
        "challenge_rate": "share of its games in which it challenged (0 to 1)",
        "challenge_turn": "turn of the game in which it challenged (1 for the first)",
        "challenge_precision": "share of its challenges that met a false claim (0 to 1)",
        "challengeable_false": "share of false claims among all it could challenge, turn by turn (0 to 1)",
        "challenge_lift": "challenge_precision over challengeable_false: above 1 it finds lies better than chance",
        "challenge_cost": "value of the weight given up for a challenge that failed, in weight",
        "score_challenge_failed": "mean score of games in which its challenge failed (-1 to 1)",
        "score_challenge_won": "mean score of games in which its challenge met a false claim (-1 to 1)",
        "score_unchallenging": "mean score of games in which it did not challenge (-1 to 1)",
        **{f"win_rate_lies_{lies}": f"share of games won in which it made {lies} false claims" for lies in range(8)},
        "first_seat_win_rate": "share of games won that it began (0 to 1)",
        "second_seat_win_rate": "share of games won that the other seat began (0 to 1)",
        "scales_by_count": "share of the scales won in its games, by anybody, on equal totals with fewer weights",
        "scales_by_first": "share of the scales won in its games, by anybody, on equal totals and counts",
    }
)
"""What each measure says, with its unit."""


@dataclass(slots=True)
class _Entrant:
    """What is kept of one entrant."""

    means: Means = field(default_factory=no_means)
    claims: Counter[tuple[int, int]] = field(default_factory=Counter)
    """How often it announced which value for which weight, the weight first."""


def diagnose(records: Iterable[Record]) -> dict[str, dict[str, float | None]]:
    """Every measure of `MEANINGS` by entrant; None where nothing was observed. Records of other games are passed over.

    An entrant counts for each seat it has.
    """
    entrants: defaultdict[str, _Entrant] = defaultdict(_Entrant)
    for record in records:
        if record.game != BALLAST.name:
            continue
        states = states_of(record)
        for seat, name in enumerate(record.entrants):
            _add_seat(entrants[name], record, states, seat)
    return {name: _measures(entrant) for name, entrant in sorted(entrants.items())}


def states_of(record: Record) -> list[BallastState]:
    """The positions of a record of Ballast, from the first to the one after its last move."""
    states = replay_states(BALLAST, read_config(BALLAST, record.config), record.deal, list(record.moves))
    return [state for state in states if isinstance(state, BallastState)]


def _own_actions(record: Record, states: list[BallastState], seat: Seat) -> Iterator[tuple[BallastState, Action]]:
    """What the entrant at `seat` did itself, each with the position it was in."""
    for decision in record.decisions:
        if decision.seat == seat and decision.by != "fallback":
            state = states[decision.step]
            action = state.legal(seat).find(record.moves[decision.step][seat])
            if action is None:
                raise ValueError(f"{record.key}: the move of seat {seat} at step {decision.step} is not canonical")
            yield state, action


def _add_seat(entrant: _Entrant, record: Record, states: list[BallastState], seat: Seat) -> None:
    means, end = entrant.means, states[-1]
    lies: list[int] = []
    found_lie: bool | None = None
    for state, action in _own_actions(record, states, seat):
        match action:
            case Place():
                number = len(state.placed)
                if end.placed[number].false:
                    lies.append(number)
                _add_claim(entrant, action, sum(weight.owner == seat for weight in state.placed) + 1)
            case Challenge(number):
                found_lie = state.placed[number].false
                means["challenge_turn"].add(state.turns + 1)
                means["challenge_precision"].add(found_lie)
                if not found_lie and len(state.hands[seat]) == 1:  # it goes by itself
                    means["challenge_cost"].add(state.hands[seat][0])
            case Discard(weight):
                means["challenge_cost"].add(weight)
        targets = state.legal(seat).targets
        means["challengeable_false"].add(sum(state.placed[target].false for target in targets), len(targets))
    for number in lies:
        means["lies_caught"].add(end.placed[number].status == "removed")
    _add_result(means, record.scores[seat], seat, len(lies), found_lie)
    _add_scales(means, end)


def _add_claim(entrant: _Entrant, placed: Place, nth: int) -> None:
    """One claim, the entrant's `nth` of the game."""
    means, false = entrant.means, placed.announced != placed.weight
    entrant.claims[placed.weight, placed.announced] += 1
    kinds = ("lie_rate_weight", placed.weight), ("lie_rate_placement", nth), ("lie_rate_scale", placed.scale)
    for name in ("lie_rate", *(f"{kind}_{which}" for kind, which in kinds)):
        means[name].add(false)
    means["claim_bias"].add(placed.announced - placed.weight)
    means[f"honest_at_{placed.announced}"].add(not false)


def _add_result(means: Means, score: float, seat: Seat, lies: int, found_lie: bool | None) -> None:
    """How the game ended for a seat that made so many false claims; `found_lie` is None if it did not challenge."""
    means["challenge_rate"].add(found_lie is not None)
    outcome = {None: "score_unchallenging", False: "score_challenge_failed", True: "score_challenge_won"}[found_lie]
    means[outcome].add(score)
    for name in (f"win_rate_lies_{lies}", f"{'second' if seat else 'first'}_seat_win_rate"):
        means[name].add(score > 0)


def _add_scales(means: Means, end: BallastState) -> None:
    for totals, counts, winner in end.verdicts():
        if winner is not None:
            level = totals[0] == totals[1]
            means["scales_by_count"].add(level and counts[0] != counts[1])
            means["scales_by_first"].add(level and counts[0] == counts[1])


def _measures(entrant: _Entrant) -> dict[str, float | None]:
    means = entrant.means
    hits, base = means["challenge_precision"].value, means["challengeable_false"].value
    known = {
        "claim_information": _information(entrant.claims),
        "challenge_lift": hits / base if hits is not None and base else None,
    }
    return {name: known[name] if name in known else means[name].value for name in MEANINGS}


def _information(claims: Counter[tuple[int, int]]) -> float | None:
    """I(true; announced) of the claims as counted, in bits."""
    if not claims:
        return None
    every = claims.total()
    true: Counter[int] = Counter()
    announced: Counter[int] = Counter()
    for (weight, claim), count in claims.items():
        true[weight] += count
        announced[claim] += count
    return sum(
        count / every * log2(count * every / (true[weight] * announced[claim]))
        for (weight, claim), count in claims.items()
    )
