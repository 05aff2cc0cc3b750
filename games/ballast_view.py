"""What one seat of Ballast is shown: facts for programs, short plain lines for a prompt, from its own side.

Owns the wording. Knows only the `View` it is handed, in which the other seat's face-down weights have no true value,
its hand is a number, and what it discarded is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from games.ballast_board import Challenged, Discarded, Entry, Placed, Status
from games.ballast_moves import Actions
from games.game import Json, Observation, Seat


class Seen(NamedTuple):
    """One placed weight, as a seat may know it."""

    number: int
    mine: bool
    scale: int
    announced: int
    status: Status
    true: int | None
    """None for a weight of the other seat that was never turned up."""

    @property
    def believed(self) -> int:
        """Its true value where that is known, else the announced one."""
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
        "your_true_total": sum(each.believed for each in mine),
        "opponent_announced_total": sum(each.announced for each in theirs),
        "your_count": len(mine),
        "opponent_count": len(theirs),
    }


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
            return f"{rival} placed #{number} on scale {seen.scale} and announced {seen.announced}."
        case Challenged(by, number):
            seen = view.placed[number]
            call = f"you challenged #{number}" if by == seat else f"{rival} challenged your #{number}"
            shown = f"announced {seen.announced}, true value {seen.true}"
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
    total = sum(each.believed for each in here)
    return f"{'total' if mine else 'announced total'} {total} ({', '.join(map(_piece, here))})"


def _piece(seen: Seen) -> str:
    if seen.status == "up":
        return f"#{seen.number} weight {seen.true} face up"
    if seen.mine:
        return f"#{seen.number} weight {seen.true} announced {seen.announced}"
    return f"#{seen.number} announced {seen.announced}"


def _weights(number: int) -> str:
    return {0: "no weights", 1: "1 weight"}.get(number, f"{number} weights")


def _used(used: bool) -> str:
    return "used" if used else "not used"
