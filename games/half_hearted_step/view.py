"""What one seat of Half-Hearted Step observes, phase by phase: facts for programs, lines of text for a prompt.

Owns both. Nothing is hidden in this game but the moves of the step that is open, so both seats know the same, each from
its own side. Facts count rounds and turns from 0, texts from 1; both count rows and columns from 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weigh.games.game import Json, Observation, Seat
from weigh.games.half_hearted_step.moves import PASS, AuctionBids, FirstChoices, Steps, ways, worded
from weigh.games.half_hearted_step.play import Auction, Board, Call, Match, Position, Sealed, Square, Table, middle

VISITED = "x"
PIECE = "P"


def in_auction(table: Table, auction: Auction, seat: Seat, names: Sequence[str], legal: AuctionBids) -> Observation:
    """A round of the auction."""
    number = len(auction.rounds)
    bidder, standing = auction.standing or (None, None)
    first = _does(auction.priority_in(number), seat, names, "have", "has")
    return Observation(
        seat=seat,
        facts={
            **_common("auction", table, [middle(len(table.board))], seat, names, auction),
            "round": number,
            "rounds_left": auction.cap - number,
            "priority": auction.priority_in(number),
            "standing": standing,
            "bidder": bidder,
            "bid_limit": table.bid_limit,
        },
        history=tuple(_auction_lines(auction, seat, names)),
        situation="\n".join(
            [
                f"Auction, round {number + 1} of at most {auction.cap}.",
                _players(seat, names),
                f"{_stands(auction.standing, seat, names)} {_sentence(f'{first} priority if both bid the same')}",
                *_board_lines(table.board, middle(len(table.board))),
                f"Your legal bids: {legal.describe()}.",
            ]
        ),
        legal=legal,
    )


def at_choice(
    table: Table, auction: Auction, won: Call, seat: Seat, names: Sequence[str], legal: FirstChoices
) -> Observation:
    """The winner's choice."""
    axes = f"Horizontal moves {ways('horizontal')}, vertical {ways('vertical')}"
    return Observation(
        seat=seat,
        facts={
            **_common("choice", table, [middle(len(table.board))], seat, names, auction),
            "threshold": won.bid,
            "holder": won.seat,
        },
        history=tuple(_auction_lines(auction, seat, names)),
        situation="\n".join(
            [
                f"You won the auction with {won.bid}. Choose who is active first, and your axis.",
                _players(seat, names),
                f"{axes}; {names[1 - seat]} gets the other axis.",
                *_board_lines(table.board, middle(len(table.board))),
                f"Your legal choices: {legal.describe()}.",
            ]
        ),
        legal=legal,
    )


def in_play(match: Match, seat: Seat, names: Sequence[str], legal: Steps) -> Observation:
    """A turn."""
    now, auction, contest, trail = match.position, match.auction, match.contest, match.trail
    before = (*_auction_lines(auction, seat, names), _choice_line(match, seat, names)) if auction else ()
    return Observation(
        seat=seat,
        facts={
            **_common("play", match.table, trail, seat, names, auction),
            "position": list(now.square),
            "turn": len(match.turns),
            "threshold": contest.threshold,
            "holder": contest.holder,
            "lead": contest.lead(now.points),
            "horizontal": now.horizontal,
            "axis": now.axis(seat),
            "first": match.first.active,
            "active": now.active,
            "points": list(now.points),
            "lives": list(now.lives),
            "stayed": list(now.stayed),
            "own_moves": list(legal),
            "opponent_moves": list(now.legal(1 - seat)),
            "landing": _landing_grid(now, seat),
            "turns": [
                {"moves": list(moves), "active": active, "square": list(square), "number": number}
                for moves, active, square, number in match.turns
            ],
        },
        history=(*before, *_turn_lines(match, seat, names)),
        situation=_play_situation(match, frozenset(trail), seat, names, legal),
        legal=legal,
    )


def _common(
    phase: str, table: Table, visited: Sequence[Square], seat: Seat, names: Sequence[str], auction: Auction | None
) -> dict[str, Json]:
    return {
        "seat": seat,
        "names": list(names),
        "phase": phase,
        "board": table.board_json(),
        "position": list(middle(len(table.board))),
        "visited": [list(square) for square in visited],
        "bids": auction.bids_json() if auction else [],
    }


def _landing_grid(now: Position, seat: Seat) -> list[Json]:
    """By own movement, then by the opponent's, in the order of their legal moves: the square, and the number or None.

    None is a visited square, which costs the active seat a life.
    """
    grid: list[Json] = []
    for step in now.legal(seat):
        landings = [now.landing(seat, step, reply) for reply in now.legal(1 - seat)]
        grid.append([{"square": list(square), "number": number} for square, number in landings])
    return grid


def _players(seat: Seat, names: Sequence[str]) -> str:
    return f"Your opponent is {names[1 - seat]}."


def _who(seat: Seat, me: Seat, names: Sequence[str]) -> str:
    return "you" if seat == me else names[seat]


def _does(seat: Seat, me: Seat, names: Sequence[str], you: str, they: str) -> str:
    return f"you {you}" if seat == me else f"{names[seat]} {they}"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _board_lines(board: Board, square: Square, visited: frozenset[Square] = frozenset()) -> list[str]:
    """The rows in columns of equal width. `visited` may leave out the square of the piece."""
    legend = f"{PIECE} = the piece, {VISITED} = visited" if visited - {square} else f"{PIECE} = the piece"

    def cell(here: Square, number: int | None) -> str:
        if here == square:
            return PIECE
        return VISITED if here in visited or number is None else str(number)

    rows = [
        " ".join([cell((row, column), number).rjust(2) for column, number in enumerate(numbers)])
        for row, numbers in enumerate(board)
    ]
    return [f"Board ({legend}):", *rows]


def _auction_lines(auction: Auction, me: Seat, names: Sequence[str]) -> Iterator[str]:
    """A line for each round, and one for the end of the auction."""
    for number, (sealed, standing) in enumerate(auction.standing_by_round(), start=1):
        yield f"Auction round {number}: {_bids(sealed, me, names)}. {_stands(standing, me, names)}"
    if auction.won is not None and auction.closed_by is not None:
        holder, threshold = auction.won
        why = {
            "all-pass": "Nobody bid any more",
            "no-bid": "Nobody opened",
            "cap": "That was the last round",
        }[auction.closed_by]
        yield f"{why}: {_does(holder, me, names, 'hold', 'holds')} the threshold {threshold}."


def _bids(sealed: Sealed, me: Seat, names: Sequence[str]) -> str:
    own_first = (me, 1 - me)
    return ", ".join(f"{_who(seat, me, names)} {PASS if sealed[seat] is None else sealed[seat]}" for seat in own_first)


def _stands(standing: Call | None, me: Seat, names: Sequence[str]) -> str:
    if standing is None:
        return "No bid stands."
    whose = "Your" if standing.seat == me else f"{names[standing.seat]}'s"
    return f"{whose} bid {standing.bid} stands."


def _choice_line(match: Match, me: Seat, names: Sequence[str]) -> str:
    first = match.first
    axes = " and ".join(f"{_does(seat, me, names, 'move', 'moves')} {ways(first.axis(seat))}" for seat in (me, 1 - me))
    chooses = _does(match.contest.holder, me, names, "choose", "chooses")
    return _sentence(f"{chooses}: {_does(first.active, me, names, 'are', 'is')} active first, {axes}")


def _turn_lines(match: Match, me: Seat, names: Sequence[str]) -> Iterator[str]:
    for number, turn in enumerate(match.turns, start=1):
        moves = ", ".join(
            f"{_who(seat, me, names)} {worded(match.first.axis(seat), turn.moves[seat])}" for seat in (me, 1 - me)
        )
        if turn.number is None:
            result = f"visited, {_does(turn.active, me, names, 'lose', 'loses')} a life"
        else:
            result = f"new, {_does(turn.active, me, names, 'get', 'gets')} {turn.number}"
        yield f"Turn {number}: {moves}; row {turn.square[0]}, column {turn.square[1]}: {result}."


def _play_situation(match: Match, visited: frozenset[Square], me: Seat, names: Sequence[str], legal: Steps) -> str:
    now, contest, rival = match.position, match.contest, names[1 - me]
    wins = _does(contest.holder, me, names, "win", "wins")
    must_move = f" ({rival} stayed last turn and must move now.)" if now.stayed[1 - me] else ""
    return "\n".join(
        [
            f"Turn {len(match.turns) + 1}. {_sentence(_does(now.active, me, names, 'are', 'is') + ' active')}",
            f"{_players(me, names)} You move {ways(now.axis(me))}, {rival} {ways(now.axis(1 - me))}.",
            f"{_sentence(f'{wins} with a lead of {contest.threshold} or more')} "
            f"The lead is {contest.lead(now.points)}: {_who(contest.winner(now.points), me, names)} would win now.",
            f"Points: you {now.points[me]}, {rival} {now.points[1 - me]}. "
            f"Lives: you {now.lives[me]}, {rival} {now.lives[1 - me]}.",
            *_board_lines(now.board, now.square, visited),
            *_landing_lines(now, me, names),
            f"{rival} may go: {now.legal(1 - me).words}.{must_move}",
            f"Your legal moves: {legal.describe()}.",
        ]
    )


def _landing_lines(now: Position, me: Seat, names: Sequence[str]) -> Iterator[str]:
    """The landing grid: a line for each own movement, with what each of the opponent's then makes of it."""
    own, other = now.axis(me), now.axis(1 - me)
    gets = _does(now.active, me, names, "get", "gets")
    yield f"What {gets}, by your move, then {names[1 - me]}'s ({VISITED} = visited, a life lost):"
    for step in now.legal(me):
        replies = [(reply, now.landing(me, step, reply)[1]) for reply in now.legal(1 - me)]
        landings = ", ".join(
            f"{worded(other, reply)} = {VISITED if number is None else number}" for reply, number in replies
        )
        yield f"{worded(own, step)}: {landings}"
