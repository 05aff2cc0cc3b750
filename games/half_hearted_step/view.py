"""What one seat of Half-Hearted Step is shown, phase by phase: facts for programs beside the texts of `wording`.

Owns the facts. Nothing is hidden in this game but the moves of the step that is open, so both seats are told the same,
each from its own side. Squares are [row, column] from 0; rounds and turns are counted from 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from games.game import Json, Observation, Seat
from games.half_hearted_step import wording
from games.half_hearted_step.auction import Auction, Call
from games.half_hearted_step.board import Board, as_lists, middle
from games.half_hearted_step.contest import Contest
from games.half_hearted_step.moves import PASS, AuctionBids, FirstChoices, Steps
from games.half_hearted_step.play import Position, Turn, trail


def in_auction(
    board: Board, bid_limit: int, auction: Auction, seat: Seat, names: Sequence[str], legal: AuctionBids
) -> Observation:
    """A round of the auction. Raises ValueError unless there are two names."""
    _check(names)
    square, standing = middle(len(board)), auction.standing
    return Observation(
        seat=seat,
        facts={
            **_common("auction", board, [square], seat, names, auction),
            "round": len(auction.rounds),
            "rounds_left": auction.cap - len(auction.rounds),
            "priority": auction.priority_in(len(auction.rounds)),
            "standing": standing.bid if standing else None,
            "bidder": standing.seat if standing else None,
            "bid_limit": bid_limit,
        },
        history=tuple(wording.auction_lines(auction, seat, names)),
        situation=wording.auction_situation(board, square, auction, seat, names, legal),
        legal=legal,
    )


def at_choice(
    board: Board, auction: Auction, won: Call, seat: Seat, names: Sequence[str], legal: FirstChoices
) -> Observation:
    """The winner's choice. Raises ValueError unless there are two names."""
    _check(names)
    square = middle(len(board))
    return Observation(
        seat=seat,
        facts={
            **_common("choice", board, [square], seat, names, auction),
            "threshold": won.bid,
            "holder": won.seat,
        },
        history=tuple(wording.auction_lines(auction, seat, names)),
        situation=wording.choice_situation(board, square, won, seat, names, legal),
        legal=legal,
    )


def in_play(
    auction: Auction | None,
    contest: Contest,
    first: Position,
    now: Position,
    turns: Sequence[Turn],
    seat: Seat,
    names: Sequence[str],
    legal: Steps,
) -> Observation:
    """A turn. Raises ValueError unless there are two names."""
    _check(names)
    squares = trail(first, turns)
    before = (
        (*wording.auction_lines(auction, seat, names), wording.choice_line(contest.holder, first, seat, names))
        if auction
        else ()
    )
    return Observation(
        seat=seat,
        facts={
            **_common("play", now.board, squares, seat, names, auction),
            "position": list(now.square),
            "turn": len(turns),
            "threshold": contest.threshold,
            "holder": contest.holder,
            "lead": contest.lead(now.points),
            "horizontal": now.horizontal,
            "axis": now.axis(seat),
            "first": first.active,
            "active": now.active,
            "points": list(now.points),
            "lives": list(now.lives),
            "stayed": list(now.stayed),
            "own_moves": list(legal),
            "opponent_moves": list(now.legal(1 - seat)),
            "landing": _landing(now, seat),
            "turns": [
                {
                    "moves": list(turn.moves),
                    "active": turn.active,
                    "square": list(turn.square),
                    "number": turn.number,
                }
                for turn in turns
            ],
        },
        history=(*before, *wording.turn_lines(first, turns, seat, names)),
        situation=wording.play_situation(contest, now, squares, len(turns), seat, names, legal),
        legal=legal,
    )


def _check(names: Sequence[str]) -> None:
    if len(names) != 2:
        raise ValueError(f"{len(names)} names for 2 seats")


def _common(
    phase: str,
    board: Board,
    visited: Sequence[tuple[int, int]],
    seat: Seat,
    names: Sequence[str],
    auction: Auction | None,
) -> dict[str, Json]:
    return {
        "seat": seat,
        "names": list(names),
        "phase": phase,
        "board": as_lists(board),
        "position": list(middle(len(board))),
        "visited": [list(square) for square in visited],
        "bids": [[PASS if bid is None else bid for bid in sealed] for sealed in (auction.rounds if auction else ())],
    }


def _landing(now: Position, seat: Seat) -> list[Json]:
    """By own movement, then by the opponent's, in the order of their legal moves: the square, and the number or None.

    None is a visited square, which costs the active seat a life.
    """
    grid: list[Json] = []
    for step in now.legal(seat):
        row: list[Json] = []
        for reply in now.legal(1 - seat):
            square, number = now.lands_on((step, reply) if seat == 0 else (reply, step))
            row.append({"square": list(square), "number": number})
        grid.append(row)
    return grid
