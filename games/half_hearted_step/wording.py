"""Half-Hearted Step in words: the lines of its history and of its positions, for a prompt.

Owns the wording. Knows only what it is handed, which is what both seats know: nothing in this game is hidden but the
moves of the step that is open. Rounds, turns and lives are told from 1, rows and columns from 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from games.game import Legal, Seat
from games.half_hearted_step.auction import Auction, Call, Sealed, called
from games.half_hearted_step.board import Board, Square
from games.half_hearted_step.contest import Contest
from games.half_hearted_step.moves import PASS, ways, worded
from games.half_hearted_step.play import Position, Turn

VISITED = "x"
PIECE = "P"


def players(seat: Seat, names: Sequence[str]) -> str:
    return f"You are {names[seat]}. Your opponent is {names[1 - seat]}."


def _who(seat: Seat, me: Seat, names: Sequence[str]) -> str:
    return "you" if seat == me else names[seat]


def _does(seat: Seat, me: Seat, names: Sequence[str], you: str, they: str) -> str:
    return f"you {you}" if seat == me else f"{names[seat]} {they}"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def board_lines(board: Board, square: Square, visited: frozenset[Square] = frozenset()) -> list[str]:
    """The rows in columns of equal width. `visited` may leave out the square of the piece."""
    rows = [
        " ".join(_cell(board[row][column], (row, column), square, visited).rjust(2) for column in range(len(board)))
        for row in range(len(board))
    ]
    legend = f"{PIECE} = the piece, {VISITED} = visited" if visited - {square} else f"{PIECE} = the piece"
    return [f"Board ({legend}):", *rows]


def _cell(number: int | None, here: Square, square: Square, visited: frozenset[Square]) -> str:
    if here == square:
        return PIECE
    return VISITED if here in visited or number is None else str(number)


def auction_lines(auction: Auction, me: Seat, names: Sequence[str]) -> Iterator[str]:
    """A line for each round, and one for the end of the auction."""
    standing: Call | None = None
    for number, sealed in enumerate(auction.rounds):
        calls = called(sealed, auction.priority_in(number))
        standing = calls[-1] if calls else standing
        yield f"Auction round {number + 1}: {_bids(sealed, me, names)}. {_standing(standing, me, names)}"
    if auction.closed_by is not None and auction.standing is not None:
        holder, threshold = auction.standing
        why = {
            "all-pass": "Nobody bid any more",
            "no-bid": "Nobody opened",
            "cap": "That was the last round",
        }[auction.closed_by]
        yield f"{why}: {_does(holder, me, names, 'hold', 'holds')} the threshold {threshold}."


def _bids(sealed: Sealed, me: Seat, names: Sequence[str]) -> str:
    own_first = (me, 1 - me)
    return ", ".join(f"{_who(seat, me, names)} {PASS if sealed[seat] is None else sealed[seat]}" for seat in own_first)


def _standing(standing: Call | None, me: Seat, names: Sequence[str]) -> str:
    if standing is None:
        return "No bid stands."
    whose = "Your" if standing.seat == me else f"{names[standing.seat]}'s"
    return f"{whose} bid {standing.bid} stands."


def choice_line(holder: Seat, first: Position, me: Seat, names: Sequence[str]) -> str:
    axes = " and ".join(f"{_does(seat, me, names, 'move', 'moves')} {ways(first.axis(seat))}" for seat in (me, 1 - me))
    chooses = _does(holder, me, names, "choose", "chooses")
    return _sentence(f"{chooses}: {_does(first.active, me, names, 'are', 'is')} active first, {axes}")


def turn_lines(first: Position, turns: Sequence[Turn], me: Seat, names: Sequence[str]) -> Iterator[str]:
    for number, turn in enumerate(turns, start=1):
        moves = ", ".join(
            f"{_who(seat, me, names)} {worded(first.axis(seat), turn.moves[seat])}" for seat in (me, 1 - me)
        )
        if turn.number is None:
            result = f"visited, {_does(turn.active, me, names, 'lose', 'loses')} a life"
        else:
            result = f"new, {_does(turn.active, me, names, 'get', 'gets')} {turn.number}"
        yield f"Turn {number}: {moves}; row {turn.square[0]}, column {turn.square[1]}: {result}."


def auction_situation(
    board: Board, square: Square, auction: Auction, me: Seat, names: Sequence[str], legal: Legal
) -> str:
    number = len(auction.rounds)
    first = _does(auction.priority_in(number), me, names, "have", "has")
    return "\n".join(
        [
            f"Auction, round {number + 1} of at most {auction.cap}.",
            players(me, names),
            f"{_standing(auction.standing, me, names)} {_sentence(f'{first} priority if both bid the same')}",
            *board_lines(board, square),
            f"Your legal bids: {legal.describe()}.",
        ]
    )


def choice_situation(board: Board, square: Square, won: Call, me: Seat, names: Sequence[str], legal: Legal) -> str:
    return "\n".join(
        [
            f"You won the auction with {won.bid}. Choose who is active first, and your axis.",
            players(me, names),
            f"Horizontal moves {ways('horizontal')}, vertical {ways('vertical')}; {names[1 - me]} gets the other axis.",
            *board_lines(board, square),
            f"Your legal choices: {legal.describe()}.",
        ]
    )


def play_situation(
    contest: Contest, now: Position, trail: Sequence[Square], turn: int, me: Seat, names: Sequence[str], legal: Legal
) -> str:
    rival = names[1 - me]
    return "\n".join(
        [
            f"Turn {turn + 1}. {_sentence(_does(now.active, me, names, 'are', 'is') + ' active')}",
            f"{players(me, names)} You move {ways(now.axis(me))}, {rival} {ways(now.axis(1 - me))}.",
            _stakes(contest, now, me, names),
            f"Points: you {now.points[me]}, {rival} {now.points[1 - me]}. "
            f"Lives: you {now.lives[me]}, {rival} {now.lives[1 - me]}.",
            *board_lines(now.board, now.square, frozenset(trail)),
            *_landing_lines(now, me, names),
            f"{rival} may go: {now.legal(1 - me).words}.{_bound(now, 1 - me, rival + ' stayed')}",
            f"Your legal moves: {legal.describe()}.",
        ]
    )


def _stakes(contest: Contest, now: Position, me: Seat, names: Sequence[str]) -> str:
    lead = contest.lead(now.points)
    wins = _does(contest.holder, me, names, "win", "wins")
    return (
        f"{_sentence(f'{wins} with a lead of {contest.threshold} or more')} "
        f"The lead is {lead}: {_who(contest.winner(now.points), me, names)} would win now."
    )


def _bound(now: Position, seat: Seat, stayed: str) -> str:
    return f" ({stayed} last turn and must move now.)" if now.stayed[seat] else ""


def _landing_lines(now: Position, me: Seat, names: Sequence[str]) -> Iterator[str]:
    """The landing grid: a line for each own movement, with what each of the opponent's then makes of it."""
    own, other = now.axis(me), now.axis(1 - me)
    gets = _does(now.active, me, names, "get", "gets")
    yield f"What {gets}, by your move, then {names[1 - me]}'s ({VISITED} = visited, a life lost):"
    for step in now.legal(me):
        landings = ", ".join(
            f"{worded(other, reply)} = {_landing(now, me, step, reply)}" for reply in now.legal(1 - me)
        )
        yield f"{worded(own, step)}: {landings}"


def _landing(now: Position, me: Seat, step: int, reply: int) -> str:
    moves = (step, reply) if me == 0 else (reply, step)
    number = now.lands_on(moves)[1]
    return VISITED if number is None else str(number)
