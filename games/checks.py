"""What every game checks and fills in alike: seats, names, the moves of a step, deals, the rulebook text.

Owns these blocks and their messages. Knows no rules. What concerns a player (an illegal move, a deal that cannot have
been drawn) is a GameError; a seat that is not asked, or a step after the end, is the caller's fault: a ValueError.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from string import Template

from weigh.games.game import Deal, DealInvalid, Move, MoveRefused, MoveUnreadable, Seat, State
from weigh.games.values import quote

NOBODY: frozenset[Seat] = frozenset()
ALONE: tuple[frozenset[Seat], frozenset[Seat]] = (frozenset((0,)), frozenset((1,)))
"""By seat: that one of two."""
BOTH: frozenset[Seat] = ALONE[0] | ALONE[1]
"""Who may be due to act in a game of two."""


def not_asked(seat: Seat) -> ValueError:
    """The error for a seat that does not move next. Returned, for a call at every decision would cost time."""
    return ValueError(f"seat {seat} has no move to make")


def check_on(state: State) -> None:
    """Raises ValueError when the episode is over."""
    if not state.to_act:
        raise ValueError("the episode is over")


def check_names(names: Sequence[str], seats: int) -> None:
    """Raises ValueError unless there is one name per seat."""
    if len(names) != seats:
        raise ValueError(f"{len(names)} names for {seats} seats")


def refusal(state: State, moves: Mapping[Seat, Move]) -> ValueError:
    """Why a step that is known to be refused cannot be played: over, wrong seats, or the first wrong move by seat."""
    if not state.to_act:
        return ValueError("the episode is over")
    if moves.keys() != state.to_act:
        return ValueError(f"this step takes one move from each of the seats {sorted(state.to_act)}, and no other")
    seat = next(seat for seat in sorted(moves) if moves[seat] not in state.legal(seat))
    try:
        canonical = state.legal(seat).read(moves[seat])
    except MoveRefused as refused:
        return type(refused)(f"seat {seat}: {refused}")
    return MoveUnreadable(f"seat {seat}: {quote(moves[seat])} is not canonical; `read` makes it {quote(canonical)}")


def check_no_deal(deal: Deal, game: str) -> None:
    """Raises DealInvalid unless the deal is that of a game without chance."""
    if not isinstance(deal, Mapping):
        raise DealInvalid(f"the deal is {quote(deal)}: it must be an empty object")
    if deal:
        raise DealInvalid(f"the deal has the unknown key {quote(next(iter(deal)))}: {game} deals nothing")


def rulebook_text(name: str, **blanks: str | int) -> str:
    """The rulebook `name` with every `$blank` filled. A blank without a value, or a value without one, is an error."""
    template = _template(name)
    unused = set(blanks) - set(template.get_identifiers())
    if unused:
        raise KeyError(f"rulebook {name} has no blank for {', '.join(sorted(unused))}")
    return template.substitute(blanks)


@cache
def _template(name: str) -> Template:
    """The text of a rulebook: package data, read once when first asked for."""
    text = files("weigh.games").joinpath("rulebooks", f"{name}.md").read_text(encoding="utf-8")
    return Template(text.strip())
