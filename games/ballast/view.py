"""What one seat of Ballast observes: facts for programs, short plain lines for a prompt, from its own side.

Owns the wording, the way back from the facts to the view, and the two changes that an experiment may put between what a
seat announces and what the other one hears: an observation in which claims of the opponent are hidden or replaced, and
a move that says of its weight what is true. Nothing in the rules calls these two.

Knows only the `View` it is handed, in which the other seat's face-down weights have no true value, its hand is a
number, and what it discarded is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from weigh.games.ballast.moves import PLACE, Actions, Challenged, Discarded, Entry, Placed, Status
from weigh.games.game import Json, Move, Observation, Seat
from weigh.games.values import commas


class ObservedWeight(NamedTuple):
    """One placed weight, as a seat may know it."""

    number: int
    mine: bool
    scale: int
    announced: int | None
    """None where it is hidden from the seat."""
    status: Status
    true: int | None
    """None for a weight of the other seat that was never turned up."""

    @property
    def believed(self) -> int | None:
        """Its true value where that is known, else the announced one, as far as that is known."""
        return self.announced if self.true is None else self.true


class View(NamedTuple):
    """A position as one seat may know it, at a decision of its own."""

    weights: int
    scales: int
    turn: int
    """1 for the first turn of the game; the discard after a challenge belongs to the challenge's turn."""
    discarding: bool
    hand: tuple[int, ...]
    rival_holds: int
    """How many weights the other seat has in hand."""
    challenged: bool
    rival_challenged: bool
    placed: tuple[ObservedWeight, ...]
    log: tuple[Entry, ...]

    def on(self, scale: int, mine: bool) -> list[ObservedWeight]:
        """What one side still has on a scale."""
        return [each for each in self.placed if each.scale == scale and each.mine == mine and each.status != "removed"]


def observe(view: View, seat: Seat, names: Sequence[str], legal: Actions) -> Observation:
    """The observation of `seat`."""
    return Observation(
        seat=seat,
        facts={
            "seat": seat,
            "names": list(names),
            "weights": view.weights,
            "phase": "discard" if view.discarding else "turn",
            "turn_number": view.turn,
            "your_hand": list(view.hand),
            "opponent_hand_count": view.rival_holds,
            "your_challenge_used": view.challenged,
            "opponent_challenge_used": view.rival_challenged,
            "placed": [_weight_facts(each) for each in view.placed],
            "scales": [_scale_facts(view, scale) for scale in range(view.scales)],
            "challengeable": list(legal.targets),
            "log": list(_log_facts(view, seat)),
        },
        history=tuple(_history(view, seat, names[1 - seat])),
        situation="\n".join(_situation(view, seat, names, legal)),
        legal=legal,
    )


def view_of(facts: Mapping[str, Any]) -> View:
    """The view that `observe` made these facts of."""
    return View(
        weights=facts["weights"],
        scales=len(facts["scales"]),
        turn=facts["turn_number"],
        discarding=facts["phase"] == "discard",
        hand=tuple(facts["your_hand"]),
        rival_holds=facts["opponent_hand_count"],
        challenged=facts["your_challenge_used"],
        rival_challenged=facts["opponent_challenge_used"],
        placed=tuple(
            ObservedWeight(
                each["number"], each["owner"] == "you", each["scale"], each["announced"], each["status"], each["true"]
            )
            for each in facts["placed"]
        ),
        log=tuple(_entry(each, facts["seat"]) for each in facts["log"]),
    )


def _entry(fact: Mapping[str, Any], seat: Seat) -> Entry:
    """What `_log_facts` made this of."""

    def by(whose: str) -> Seat:
        return seat if whose == "you" else 1 - seat

    if fact["type"] == "place":
        return Placed(fact["number"])
    if fact["type"] == "challenge":
        return Challenged(by(fact["by"]), fact["number"])
    return Discarded(by(fact["owner"]), fact["value"])


def _whose(mine: bool) -> str:
    return "you" if mine else "opponent"


def _weight_facts(weight: ObservedWeight) -> dict[str, Json]:
    number, mine, scale, announced, status, true = weight
    facts: dict[str, Json] = {"number": number, "owner": _whose(mine), "scale": scale}
    return {**facts, "announced": announced, "status": status, "true": true}


def _scale_facts(view: View, scale: int) -> dict[str, Json]:
    mine, theirs = view.on(scale, True), view.on(scale, False)
    return {
        "scale": scale,
        "your_true_total": _total(mine),
        "opponent_announced_total": _total(theirs),
        "your_count": len(mine),
        "opponent_count": len(theirs),
    }


def _total(weights: Sequence[ObservedWeight]) -> int:
    """What they are believed to come to; of what is hidden nothing is."""
    return sum(each.believed or 0 for each in weights)


def _log_facts(view: View, seat: Seat) -> Iterator[dict[str, Json]]:
    """What has happened, in order; of the discards only the own ones with a value."""
    for entry in view.log:
        match entry:
            case Placed(number):
                _, mine, scale, announced, *_ = view.placed[number]
                yield {"type": "place", "owner": _whose(mine), "number": number, "scale": scale, "announced": announced}
            case Challenged(by, number):
                weight, whose = view.placed[number], _whose(by == seat)
                outcome = "removed" if weight.status == "removed" else "stands"
                yield {"type": "challenge", "by": whose, "number": number, "true": weight.true, "outcome": outcome}
            case Discarded(by, value):
                yield {"type": "discard", "owner": _whose(by == seat), "value": value}


def _history(view: View, seat: Seat, rival: str) -> Iterator[str]:
    turn = 0
    for entry in view.log:
        turn += not isinstance(entry, Discarded)
        yield f"Turn {turn}: {_entry_line(view, entry, seat, rival)}"


def _entry_line(view: View, entry: Entry, seat: Seat, rival: str) -> str:
    match entry:
        case Placed(number):
            weight = view.placed[number]
            where = f"on scale {weight.scale} and announced"
            if weight.mine:
                return f"you placed #{number}, weight {weight.true}, {where} {weight.announced}."
            return f"{rival} placed #{number} {where} {_claim(weight)}."
        case Challenged(by, number):
            weight = view.placed[number]
            call = f"you challenged #{number}" if by == seat else f"{rival} challenged your #{number}"
            values = f"announced {_claim(weight)}, true value {weight.true}"
            if weight.status == "removed":
                return f"{call}: {values}. False claim: it is removed."
            loser = "you lose" if by == seat else f"{rival} loses"
            return f"{call}: {values}. True claim: it stays, face up, and {loser} a weight."
        case Discarded(by, value):
            own = f"you discarded weight {value}."
            return own if by == seat else f"{rival} discarded a weight that you cannot see."


def _situation(view: View, seat: Seat, names: Sequence[str], legal: Actions) -> Iterator[str]:
    rival = names[1 - seat]
    due = " Your challenge failed: choose a weight to discard." if view.discarding else ""
    yield f"Turn {view.turn}. You are player {seat}.{due}"
    yield f"Your hand: {commas(view.hand)}. {rival} holds {_weights(view.rival_holds)}."
    yield f"Your challenge: {_used(view.challenged)}. Challenge of {rival}: {_used(view.rival_challenged)}."
    for scale in range(view.scales):
        yield f"Scale {scale}. You: {_side(view, scale, True)}. {rival}: {_side(view, scale, False)}."
    yield f"Your legal moves: {legal.describe()}."


def _side(view: View, scale: int, mine: bool) -> str:
    """`total 7 (#0 weight 5 announced 3, #4 weight 2 face up)`; of the rival's what was announced."""
    here = view.on(scale, mine)
    if not here:
        return "nothing"
    partly = ", without what is hidden" if any(each.believed is None for each in here) else ""
    return f"{'total' if mine else 'announced total'} {_total(here)}{partly} ({commas(map(_piece, here))})"


def _piece(weight: ObservedWeight) -> str:
    if weight.status == "up":
        return f"#{weight.number} weight {weight.true} face up"
    if weight.mine:
        return f"#{weight.number} weight {weight.true} announced {weight.announced}"
    return f"#{weight.number} announced {_claim(weight)}"


def _claim(weight: ObservedWeight) -> str:
    return "a value hidden from you" if weight.announced is None else str(weight.announced)


def _weights(number: int) -> str:
    return {0: "no weights", 1: "1 weight"}.get(number, f"{number} weights")


def _used(used: bool) -> str:
    return "used" if used else "not used"


def observe_with_claims(observation: Observation, claims: Mapping[int, int | None]) -> Observation:
    """The observation its seat would have had if these weights of the opponent had been announced so.

    `claims` is by number of weight: an announced value, or None for one that is hidden. Numbers that are not the
    opponent's, or not placed yet, are passed over. Facts, history and situation change alike, for all are made again;
    what may be done stays as it is. Two things are not changed, as they follow from the claim that was really made: a
    weight that was turned up shows its true value, and it stays or was removed by the real claim.

    The history of a seat stays append-only as long as it is always given the same claims.
    """
    if not isinstance(observation.legal, Actions):
        raise ValueError("an observation of another game")
    view = view_of(observation.facts)
    placed = [
        weight._replace(announced=claims[weight.number]) if not weight.mine and weight.number in claims else weight
        for weight in view.placed
    ]
    names = observation.facts["names"]
    if not isinstance(names, list):
        raise ValueError("facts without the names at the table")
    return observe(
        view._replace(placed=tuple(placed)), observation.seat, [str(name) for name in names], observation.legal
    )


def truthful(move: Move) -> Move:
    """A canonical move as it is, but for a placement: that one announces the weight it places."""
    if isinstance(move, list) and move and move[0] == PLACE:
        word, weight, scale, _ = move
        return [word, weight, scale, weight]
    return move
