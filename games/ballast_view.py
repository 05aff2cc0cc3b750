"""What one seat of Ballast is shown: facts for programs, short plain lines for a prompt, from its own side.

Owns the wording, and the way back from the facts to the view. Knows only the `View` it is handed, in which the other
seat's face-down weights have no true value, its hand is a number, and what it discarded is missing. A claim of the
other seat may be missing too: never by the rules, but where `games.ballast_claims` hides it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from games.ballast_board import Challenged, Discarded, Entry, Placed, Status
from games.ballast_moves import Actions
from games.game import Json, Observation, Seat


class Seen(NamedTuple):
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
        """Its true value where that is known, else the announced one, as far as it is shown."""
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
    placed: tuple[Seen, ...]
    log: tuple[Entry, ...]

    def on(self, scale: int, mine: bool) -> list[Seen]:
        """What one side still has on a scale."""
        return [each for each in self.placed if each.scale == scale and each.mine == mine and each.status != "removed"]


def observe(view: View, seat: Seat, names: Sequence[str], legal: Actions) -> Observation:
    """The observation of `seat`. Raises ValueError unless there are two names."""
    if len(names) != 2:
        raise ValueError(f"{len(names)} names for 2 seats")
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
            Seen(each["number"], each["owner"] == "you", each["scale"], each["announced"], each["status"], each["true"])
            for each in facts["placed"]
        ),
        log=tuple(_entry(each, facts["seat"]) for each in facts["log"]),
    )


def _entry(told: Mapping[str, Any], seat: Seat) -> Entry:
    """What `_log_facts` made this of."""

    def by(whose: str) -> Seat:
        return seat if whose == "you" else 1 - seat

    if told["type"] == "place":
        return Placed(told["number"])
    if told["type"] == "challenge":
        return Challenged(by(told["by"]), told["number"])
    return Discarded(by(told["owner"]), told["value"])


def _whose(mine: bool) -> str:
    return "you" if mine else "opponent"


def _weight_facts(seen: Seen) -> dict[str, Json]:
    return {
        "number": seen.number,
        "owner": _whose(seen.mine),
        "scale": seen.scale,
        "announced": seen.announced,
        "status": seen.status,
        "true": seen.true,
    }


def _scale_facts(view: View, scale: int) -> dict[str, Json]:
    mine, theirs = view.on(scale, True), view.on(scale, False)
    return {
        "scale": scale,
        "your_true_total": _total(mine),
        "opponent_announced_total": _total(theirs),
        "your_count": len(mine),
        "opponent_count": len(theirs),
    }


def _total(weights: Sequence[Seen]) -> int:
    """What they are believed to come to; of what is hidden nothing is."""
    return sum(each.believed or 0 for each in weights)


def _log_facts(view: View, seat: Seat) -> Iterator[dict[str, Json]]:
    """What has happened, in order; of the discards only the own ones with a value."""
    for entry in view.log:
        match entry:
            case Placed(number):
                seen = view.placed[number]
                yield {
                    "type": "place",
                    "owner": _whose(seen.mine),
                    "number": number,
                    "scale": seen.scale,
                    "announced": seen.announced,
                }
            case Challenged(by, number):
                seen = view.placed[number]
                outcome = "removed" if seen.status == "removed" else "stands"
                yield {
                    "type": "challenge",
                    "by": _whose(by == seat),
                    "number": number,
                    "true": seen.true,
                    "outcome": outcome,
                }
            case Discarded(by, value):
                yield {"type": "discard", "owner": _whose(by == seat), "value": value}


def _history(view: View, seat: Seat, rival: str) -> Iterator[str]:
    turn = 0
    for entry in view.log:
        turn += not isinstance(entry, Discarded)
        yield f"Turn {turn}: {_told(view, entry, seat, rival)}"


def _told(view: View, entry: Entry, seat: Seat, rival: str) -> str:
    match entry:
        case Placed(number):
            seen = view.placed[number]
            if seen.mine:
                return (
                    f"you placed #{number}, weight {seen.true}, on scale {seen.scale} and announced {seen.announced}."
                )
            return f"{rival} placed #{number} on scale {seen.scale} and announced {_claim(seen)}."
        case Challenged(by, number):
            seen = view.placed[number]
            call = f"you challenged #{number}" if by == seat else f"{rival} challenged your #{number}"
            shown = f"announced {_claim(seen)}, true value {seen.true}"
            if seen.status == "removed":
                return f"{call}: {shown}. False claim: it is removed."
            loser = "you lose" if by == seat else f"{rival} loses"
            return f"{call}: {shown}. True claim: it stays, face up, and {loser} a weight."
        case Discarded(by, value):
            return (
                f"you discarded weight {value}." if by == seat else f"{rival} discarded a weight that you cannot see."
            )


def _situation(view: View, seat: Seat, names: Sequence[str], legal: Actions) -> Iterator[str]:
    own, rival = names[seat], names[1 - seat]
    due = " Your challenge failed: choose a weight to discard." if view.discarding else ""
    yield f"Turn {view.turn}. You are {own}, player {seat}.{due}"
    yield f"Your hand: {', '.join(map(str, view.hand))}. {rival} holds {_weights(view.rival_holds)}."
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
    return f"{'total' if mine else 'announced total'} {_total(here)}{partly} ({', '.join(map(_piece, here))})"


def _piece(seen: Seen) -> str:
    if seen.status == "up":
        return f"#{seen.number} weight {seen.true} face up"
    if seen.mine:
        return f"#{seen.number} weight {seen.true} announced {seen.announced}"
    return f"#{seen.number} announced {_claim(seen)}"


def _claim(seen: Seen) -> str:
    return "a value hidden from you" if seen.announced is None else str(seen.announced)


def _weights(number: int) -> str:
    return {0: "no weights", 1: "1 weight"}.get(number, f"{number} weights")


def _used(used: bool) -> str:
    return "used" if used else "not used"
