"""What is claimed and what is challenged, one row each, and the rates that follow: a description from records alone.

Owns the ledger of claims and calls of one entrant against another, and its rates. Causes nothing: whether a claim is
read, only the arms of an experiment can tell. Moves that the fallback made are nobody's, and left out.

How much a claim tells of its weight, in bits.

Owns the mutual information of true and announced values, its bias correction and its test. Knows claims as two rows of
numbers with their episodes; no game.

A sample's mutual information is too large, the more so the fewer claims there are. What is subtracted is its mean over
permutations of the announced values within each episode: what the same claims would seem to tell if they had been laid
on that episode's weights blindly. The same permutations give the p value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from weigh.games.ballast.moves import Action, Challenge, Challenged, Discard, Place
from weigh.games.ballast.rules import BALLAST, BallastState
from weigh.games.game import Seat
from weigh.harness.audit.measures.ballast import states_of
from weigh.harness.store.record import Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints: TypeAlias = NDArray[np.intp]

LEAST: Final = 200
"""Claims, below which nothing is said."""
PERMUTATIONS: Final = 999
SEED: Final = 20_261_130
"""Fixed: equal claims give equal numbers."""


@dataclass(frozen=True, slots=True)
class Signalling:
    """What the claims of one entrant tell."""

    claims: int
    episodes: int
    plain: float | None
    """I(true; announced) of the counts, in bits."""
    by_chance: float | None
    """Its mean over the permutations."""
    information: float | None
    """`plain` less `by_chance`."""
    most: float | None
    """The entropy of the true values: what claims that are always true tell."""
    p: float | None
    """Share of permutations with as much information, the sample counted in."""


def signalling(true: Sequence[int], announced: Sequence[int], episodes: Sequence[str]) -> Signalling:
    """The information in these claims, each in its episode; None for fewer than LEAST."""
    import numpy as np

    places: dict[str, int] = {}
    where = [places.setdefault(episode, len(places)) for episode in episodes]
    if len(true) < LEAST:
        return Signalling(len(true), len(places), None, None, None, None, None)
    weights = np.unique(np.asarray(true), return_inverse=True)[1]
    claims = np.unique(np.asarray(announced), return_inverse=True)[1]
    at = np.asarray(where, float)
    order = np.argsort(at, kind="stable")
    weights, claims, at = weights[order], claims[order], at[order]
    plain = _information(weights, claims)
    rng = np.random.default_rng(SEED)
    # Numbers below 1 added to the episodes' own: sorting them shuffles within episodes and moves none.
    shuffled = np.array(
        [_information(weights, claims[np.argsort(at + rng.random(len(at)))]) for _ in range(PERMUTATIONS)]
    )
    by_chance = float(shuffled.mean())
    beyond = int((shuffled >= plain - 1e-12).sum())
    return Signalling(
        claims=len(true),
        episodes=len(places),
        plain=plain,
        by_chance=by_chance,
        information=plain - by_chance,
        most=_information(weights, weights),
        p=(1 + beyond) / (1 + PERMUTATIONS),
    )


def _information(one: Ints, other: Ints) -> float:
    """Mutual information of two codings (0, 1, ...), in bits."""
    import numpy as np

    width = int(other.max()) + 1
    counts = np.bincount(one * width + other, minlength=(int(one.max()) + 1) * width).reshape(-1, width)
    joint = counts / counts.sum()
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    there = joint > 0
    return float((joint[there] * np.log2(joint[there] / apart[there])).sum())


class Claim(NamedTuple):
    """A weight that the claimer placed."""

    episode: str
    turn: int
    """Of the game, from 1."""
    true: int
    announced: int
    shown_before: bool
    """Whether the announced weight lay face up or removed by then: the opponent knew the claim to be false."""
    claimed_before: bool
    """Whether another face-down weight stood under the same claim: one of the two is false."""
    challenged: bool

    @property
    def false(self) -> bool:
        return self.announced != self.true

    @property
    def plausible(self) -> bool:
        """Whether nothing that the opponent had seen spoke against it."""
        return not (self.shown_before or self.claimed_before)


class Call(NamedTuple):
    """A challenge by the listener."""

    episode: str
    turn: int
    age: int
    """Turns since the claim was made."""
    false: bool
    """Whether it met a false claim."""
    targets: int
    """How many weights could have been challenged."""
    false_targets: int
    cost: int | None
    """Of a failed one, the value of the weight given up; None for one that met a false claim, or when the fallback
    chose."""
    score: float
    """Of the listener, at the end."""


class Game(NamedTuple):
    """One episode."""

    episode: str
    lies: int
    score: float
    """Of the claimer."""
    call: Call | None


@dataclass(slots=True)
class Ledger:
    """The claims of one entrant, and the calls on them."""

    claims: list[Claim] = field(default_factory=list)
    games: list[Game] = field(default_factory=list)
    targets: int = 0
    """Weights that the listener could have challenged, added up over its turns."""
    false_targets: int = 0

    @property
    def calls(self) -> list[Call]:
        return [game.call for game in self.games if game.call is not None]


def claims_ledger(records: Iterable[Record], claimer: str, listener: str | None = None) -> Ledger:
    """What `claimer` claimed in these records of any run, and how it was called; only against `listener`, if given.

    One pass; records of other games, and of games in which the claimer does not play, are passed over. Where it plays
    against itself, each seat claims.
    """
    ledger = Ledger()
    for record in records:
        if record.game != BALLAST.name:
            continue
        for seat, name in enumerate(record.entrants):
            if name == claimer and listener in (None, record.entrants[1 - seat]):
                _enter(ledger, record, seat)
    return ledger


def _enter(ledger: Ledger, record: Record, claimer: Seat) -> None:
    states = states_of(record)
    end, call, lies = states[-1], None, 0
    called = {entry.number for entry in end.log if isinstance(entry, Challenged)}
    placed_at: dict[int, int] = {}
    for state, seat, own, action in _actions(record, states):
        turn = state.turns + 1
        if isinstance(action, Place):
            placed_at[len(state.placed)] = turn
        if not own:
            continue
        if seat == claimer:
            if isinstance(action, Place):
                claim = _claim(record.key, state, seat, action, len(state.placed) in called)
                ledger.claims.append(claim)
                lies += claim.false
        elif isinstance(action, Discard):
            call = None if call is None else call._replace(cost=action.weight)
        else:
            targets = state.legal(seat).targets
            false = sum(state.placed[target].false for target in targets)
            ledger.targets += len(targets)
            ledger.false_targets += false
            if isinstance(action, Challenge):
                age, met, hand = turn - placed_at[action.number], state.placed[action.number].false, state.hands[seat]
                by_itself = hand[0] if not met and len(hand) == 1 else None
                score = record.scores[seat]
                call = Call(record.key, turn, age, met, len(targets), false, by_itself, score)
    ledger.games.append(Game(record.key, lies, record.scores[claimer], call))


def _claim(episode: str, state: BallastState, seat: Seat, action: Place, challenged: bool) -> Claim:
    own = [weight for weight in state.placed if weight.owner == seat]
    return Claim(
        episode=episode,
        turn=state.turns + 1,
        true=action.weight,
        announced=action.announced,
        shown_before=any(weight.status != "down" and weight.true == action.announced for weight in own),
        claimed_before=any(weight.status == "down" and weight.announced == action.announced for weight in own),
        challenged=challenged,
    )


def _actions(record: Record, states: Sequence[BallastState]) -> Iterator[tuple[BallastState, Seat, bool, Action]]:
    """Every move with the position it was made in, its seat, and whether it was the seat's own."""
    for decision in record.decisions:
        state = states[decision.step]
        action = state.legal(decision.seat).find(record.moves[decision.step][decision.seat])
        if action is None:
            raise ValueError(f"{record.key}: the move of seat {decision.seat} at step {decision.step} is not canonical")
        yield state, decision.seat, decision.by != "fallback", action


def _rate(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def rates(ledger: Ledger) -> dict[str, object]:
    """The rates of a ledger, as a report shows them; null where nothing was observed."""
    claims, calls = ledger.claims, ledger.calls
    lies = [claim for claim in claims if claim.false]
    failed = [call for call in calls if not call.false]
    precision = _rate(sum(call.false for call in calls), len(calls))
    # A random legal challenge in the turns in which the listener did challenge: the same moments, another choice.
    at_random = _rate(sum(call.false_targets / call.targets for call in calls), len(calls))
    costs = [call.cost for call in failed if call.cost is not None]
    silent = [-game.score for game in ledger.games if game.call is None]
    return {
        "episodes": len(ledger.games),
        "claims": len(claims),
        "lies": len(lies),
        "lie_rate": _rate(len(lies), len(claims)),
        "by_weight": _lie_rates(claims, "weight", [claim.true for claim in claims]),
        "by_turn": _lie_rates(claims, "turn", [claim.turn for claim in claims]),
        "implausible_lies": _rate(sum(not lie.plausible for lie in lies), len(lies)),
        "implausible_claims": _rate(sum(not claim.plausible for claim in claims), len(claims)),
        "challenges": len(calls),
        "challenge_rate": _rate(len(calls), len(ledger.games)),
        "challenge_turn": _rate(sum(call.turn for call in calls), len(calls)),
        "challenge_age": _rate(sum(call.age for call in calls), len(calls)),
        "precision": precision,
        "recall": _rate(sum(lie.challenged for lie in lies), len(lies)),
        "base_rate": _rate(ledger.false_targets, ledger.targets),
        "random_challenge": at_random,
        "lift": precision / at_random if precision is not None and at_random else None,
        "failed_challenge_cost": _rate(sum(costs), len(costs)),
        "listener_score_challenge_failed": _rate(sum(call.score for call in failed), len(failed)),
        "listener_score_challenge_met_lie": _rate(
            sum(call.score for call in calls if call.false), sum(call.false for call in calls)
        ),
        "listener_score_unchallenging": _rate(sum(silent), len(silent)),
    }


def _lie_rates(claims: Sequence[Claim], what: str, values: Sequence[int]) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for value in sorted(set(values)):
        there = [claim.false for claim, at in zip(claims, values, strict=True) if at == value]
        rows.append({what: value, "claims": len(there), "lie_rate": sum(there) / len(there)})
    return rows


NOT_CAUSAL = (
    "not causal: how often a player lies and how often it wins can both follow from the game at hand, from its seat or "
    "from its opponent; the contrasts between arms say what a claim does"
)
"""Stands beside the wins by number of lies."""


def wins_by_lies(ledger: Ledger) -> list[dict[str, object]]:
    """The confounded split: how games ended in which the claimer told so many lies."""
    rows: list[dict[str, object]] = []
    for lies in sorted({game.lies for game in ledger.games}):
        scores = [game.score for game in ledger.games if game.lies == lies]
        won = sum(score > 0 for score in scores)
        rows.append(
            {"lies": lies, "episodes": len(scores), "win_rate": won / len(scores), "mean": sum(scores) / len(scores)}
        )
    return rows
