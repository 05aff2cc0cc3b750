"""The auction of Half-Hearted Step: rounds of sealed bids or passes that build up one ascending list of calls.

Owns who is called, in which order, what stands, and when the auction is over. Knows no board, no choice, no texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from games.game import Seat

Sealed: TypeAlias = tuple[int | None, int | None]
"""What each seat handed in for one round: a bid, or None for a pass."""

ClosedBy: TypeAlias = Literal["all-pass", "no-bid", "cap"]
"""Why it ended: a round without a bid, two of them before any bid at all, or the last round allowed."""

PATIENCE = 2
"""Rounds without a bid after which an auction nobody has opened is over."""

DEEMED = 0
"""The bid that the first priority seat is then taken to have made."""


class Call(NamedTuple):
    """One bid as it was called out."""

    seat: Seat
    bid: int


def called(sealed: Sealed, priority: Seat) -> tuple[Call, ...]:
    """The bids of one round in the order in which they are called: the smaller, then the larger.

    Of two equal ones only that of the seat with priority is called; the later would not be larger than the latest.
    """
    calls = [Call(seat, bid) for seat, bid in enumerate(sealed) if bid is not None]
    if len(calls) == 2 and calls[0].bid == calls[1].bid:
        return (calls[priority],)
    return tuple(sorted(calls, key=lambda call: call.bid))


@dataclass(frozen=True, slots=True)
class Auction:
    """An auction so far."""

    priority: Seat
    """Who has priority in the first round; it changes hands every round."""
    cap: int
    """Rounds after which it ends whatever happens."""
    rounds: tuple[Sealed, ...] = ()
    standing: Call | None = None
    """The latest call; of an auction that was closed by `no-bid`, the bid that is deemed made."""
    closed_by: ClosedBy | None = None
    """None while it is on."""

    def priority_in(self, number: int) -> Seat:
        """The seat with priority in a round, counted from 0."""
        return (self.priority + number) % 2

    @property
    def calls(self) -> tuple[Call, ...]:
        """Every call in order. A bid that is only deemed made was never called."""
        return tuple(
            call for number, sealed in enumerate(self.rounds) for call in called(sealed, self.priority_in(number))
        )

    def after(self, sealed: Sealed) -> Auction:
        """The auction after one more round."""
        calls = called(sealed, self.priority_in(len(self.rounds)))
        rounds = (*self.rounds, sealed)
        standing = calls[-1] if calls else self.standing
        closed_by: ClosedBy | None = None
        if standing is None:
            if len(rounds) >= PATIENCE:
                standing, closed_by = Call(self.priority, DEEMED), "no-bid"
        elif not calls:
            closed_by = "all-pass"
        elif len(rounds) >= self.cap:
            closed_by = "cap"
        return Auction(self.priority, self.cap, rounds, standing, closed_by)
