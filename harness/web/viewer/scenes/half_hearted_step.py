"""Half-Hearted Step as pictures: the auction of a lead, then a piece that two seats move, each along its own axis.

Owns its beats: each round of the auction, the winner's choice, each turn with both half-moves, and the end. Every
number is the engine's. The drawings are in `half_hearted_step_board` and `half_hearted_step_sides` beside this module.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias, cast

from weigh.games.game import Move, Outcome, Seat, State
from weigh.games.half_hearted_step.moves import ME, PASS, VERTICAL, ways, worded
from weigh.games.half_hearted_step.play import Auction, Call, Contest, Position, Sealed, Turn, called, middle
from weigh.games.half_hearted_step.rules import AuctionState, ChoiceState, PlayState
from weigh.harness.web.viewer.amounts import exact_score, score
from weigh.harness.web.viewer.assets import asset
from weigh.harness.web.viewer.nodes import Element, h
from weigh.harness.web.viewer.scene import Beat, Moment
from weigh.harness.web.viewer.scenes import half_hearted_step_board as board_drawing
from weigh.harness.web.viewer.scenes import half_hearted_step_sides as side_drawing
from weigh.harness.web.viewer.scenes.half_hearted_step_board import LastTurn
from weigh.harness.web.viewer.scenes.half_hearted_step_sides import Rung, Side, Stakes
from weigh.harness.web.viewer.seat_marks import marks

STYLE: Final = asset("half_hearted_step.css")

AnyState: TypeAlias = AuctionState | ChoiceState | PlayState


def beats(moment: Moment) -> Sequence[Beat]:
    """The beats of one moment: see `harness.web.viewer.scene.Scene`."""
    return tuple(_beats(moment))


def said(before: State, seat: Seat, move: Move) -> str:
    """The bid, the choice or the half-move: see `harness.web.viewer.scene.Scene`."""
    if isinstance(before, PlayState):
        return worded(before.position.axis(seat), cast(int, move))
    if isinstance(before, ChoiceState):
        choice = cast(Mapping[str, str], move)
        return f"{'first' if choice['active'] == ME else 'second'}, {choice['axis']}"
    return "passes" if move == PASS else f"bids {move}"


def _beats(moment: Moment) -> Iterator[Beat]:
    names, after = moment.names, cast(AnyState, moment.after)
    if moment.before is None:
        yield _opening(names, after)
    elif moment.moves:
        match after:
            case PlayState(turns=()):
                yield _chosen(names, after)
            case PlayState():
                yield _moved(names, cast(PlayState, moment.before), after)
            case AuctionState() | ChoiceState():
                yield _bid(names, after)
    if after.outcome is not None:
        yield _ended(names, after, after.outcome)


# -- the beats ---------------------------------------------------------------------------------------------------------


def _opening(names: Sequence[str], state: AnyState) -> Beat:
    size, lives = len(state.table.board), state.table.lives
    feed = [
        f"The piece starts in the middle of a board of {size} × {size} numbers. "
        f"Each seat has {'1 life' if lives == 1 else f'{lives} lives'}."
    ]
    if isinstance(state, PlayState):
        feed += [*_terms(names, state), _stakes_line(names, state)]
    else:
        feed.append(f"First comes an auction; {names[state.auction.priority]} has priority in its first round.")
    return Beat("start", "the board", _picture(names, state), tuple(feed), _counts(state))


def _bid(names: Sequence[str], state: AuctionState | ChoiceState) -> Beat:
    auction, own = state.auction, marks(names)
    number, sealed = len(auction.rounds), auction.rounds[-1]
    said = [_said(bid) for bid in sealed]
    feed = [f"Auction round {number}: {names[0]} {_bids(sealed[0])}, {names[1]} {_bids(sealed[1])}."]
    calls = called(sealed, auction.priority_in(number - 1))
    if calls and sealed[0] == sealed[1]:
        feed.append(f"The bids are equal: that of {names[calls[0].seat]}, who has priority, stands.")
    elif auction.standing is not None and auction.closed_by != "no-bid":
        feed.append(f"{names[auction.standing.seat]}'s bid {auction.standing.bid} stands.")
    else:
        feed.append("No bid stands.")
    banner = None
    if auction.closed_by is not None and auction.standing is not None:
        holder, threshold = auction.standing
        feed.append(f"{_CLOSED[auction.closed_by]}: {names[holder]} holds the threshold {threshold}, and chooses.")
        banner = f"AUCTION WON: {own[holder]} holds {threshold}"
    return Beat(
        "auction",
        f"auction {number}: {own[0]} {said[0]}, {own[1]} {said[1]}",
        _picture(names, state, doing=(_bids(sealed[0]), _bids(sealed[1]))),
        tuple(feed),
        _counts(state),
        banner,
    )


_CLOSED: Final = {
    "all-pass": "Nobody bid any more",
    "no-bid": "Nobody opened the auction",
    "cap": "That was the last round of the auction",
}


def _said(bid: int | None) -> str:
    return PASS if bid is None else str(bid)


def _bids(bid: int | None) -> str:
    return "passes" if bid is None else f"bids {bid}"


def _chosen(names: Sequence[str], state: PlayState) -> Beat:
    holder, first = state.contest.holder, state.first
    own = marks(names)
    return Beat(
        "event",
        f"{own[holder]} chooses: {own[first.active]} first, {own[holder]} {first.axis(holder)}",
        _picture(names, state, doing=tuple("chooses" if seat == holder else "" for seat in (0, 1))),
        (f"{names[holder]} chooses.", *_terms(names, state), _stakes_line(names, state)),
        _counts(state),
    )


def _terms(names: Sequence[str], state: PlayState) -> tuple[str, ...]:
    first = state.first
    axes = ", ".join(f"{names[seat]} moves {ways(first.axis(seat))}" for seat in (0, 1))
    return (f"{names[first.active]} is active first. {axes}.",)


def _moved(names: Sequence[str], before: PlayState, after: PlayState) -> Beat:
    turn, number, now = after.turns[-1], len(after.turns), after.position
    active, mark = turn.active, marks(names)[turn.active]
    steps = tuple(worded(now.axis(seat), turn.moves[seat]) for seat in (0, 1))
    row, column = turn.square
    feed = [
        f"Turn {number}: {names[active]}, who is active, {_goes(steps[active])}; "
        f"{names[1 - active]} {_goes(steps[1 - active])}. The piece lands on row {row}, column {column}."
    ]
    banner = None
    if turn.number is None:
        left = now.lives[active]
        lives = "no life" if not left else "1 life" if left == 1 else f"{left} lives"
        feed.append(f"It was there before: {names[active]} loses a life and has {lives} left.")
        label, banner = f"turn {number}: {mark} loses a life", f"LIFE LOST: {mark} has {left} left"
    else:
        feed.append(f"A new square: {names[active]} gets {turn.number} and has {_points(now.points[active])}.")
        label = f"turn {number}: {mark} {turn.number:+d}"
    feed.append(_stakes_line(names, after))
    if after.to_act:
        feed.append(f"{names[now.active]} is active {'next' if now.active != active else 'again'}.")
    doing = tuple(_goes(step).removeprefix("goes ") for step in steps)
    shown = _picture(names, after, doing=doing, turn=turn, origin=before.position)
    return Beat("move", label, shown, tuple(feed), _counts(after), banner)


def _goes(step: str) -> str:
    return "stays" if step == worded(VERTICAL, 0) else f"goes {step}"


def _last_turn(before: Position, turn: Turn) -> LastTurn:
    return LastTurn(
        origin=before.square,
        across=turn.moves[before.horizontal],
        down=turn.moves[1 - before.horizontal],
        horizontal=before.horizontal,
        lost=turn.number is None,
    )


def _points(number: int) -> str:
    return "1 point" if number == 1 else f"{number} points"


def _stakes_line(names: Sequence[str], state: PlayState) -> str:
    contest, points = state.contest, state.position.points
    return (
        f"The lead of {names[contest.holder]} is {contest.lead(points)}, needed is {contest.threshold}: "
        f"{names[contest.winner(points)]} would win now."
    )


def _ended(names: Sequence[str], state: AnyState, outcome: Outcome) -> Beat:
    if isinstance(state, PlayState):
        contest, points = state.contest, state.position.points
        why = "The clock stopped the game." if state.stopped else "All lives are lost."
        winner = contest.winner(points)
        verdict = (
            f"The lead of {names[contest.holder]} is {contest.lead(points)}, needed was {contest.threshold}: "
            f"{names[winner]} wins, {points[0]} to {points[1]} points."
        )
    else:
        why, verdict = "The clock stopped the game before play began.", "Nobody wins: a draw."
    scores = ", ".join(
        f"{name} {score(value)} ({exact_score(value)})" for name, value in zip(names, outcome.scores, strict=True)
    )
    doing = tuple(f"{score(value)} ({exact_score(value)})" for value in outcome.scores)
    return Beat(
        "end",
        f"end: {outcome.ending}",
        _picture(names, state, doing=doing, verdict=f"{verdict} Scores: {scores}."),
        (why, verdict, f"Scores: {scores}."),
        _counts(state),
    )


# -- what is drawn -----------------------------------------------------------------------------------------------------


def _picture(
    names: Sequence[str],
    state: AnyState,
    *,
    doing: Sequence[str] = ("", ""),
    turn: Turn | None = None,
    origin: Position | None = None,
    verdict: str = "",
) -> Element:
    """The whole picture. `turn`: it is about this turn, which began at `origin`."""
    own, sides = marks(names), _sides(names, state, doing, turn)
    turns: Sequence[Turn] = state.turns if isinstance(state, PlayState) else ()
    start = middle(len(state.table.board))
    way = (start, *(turn.square for turn in turns))
    shown = board_drawing.Shown(
        marks=own,
        board=state.table.board,
        square=way[-1],
        way=way,
        taken=tuple((turn.square, turn.active) for turn in turns if turn.number is not None),
        last=_last_turn(origin, turn) if turn and origin else None,
    )
    if isinstance(state, PlayState):
        below = side_drawing.draw_stakes(_stakes(state.contest, state), names, own)
        standing = _stakes_line(names, state)
    else:
        below = side_drawing.draw_ladder(_rungs(state.auction), own, state.auction.cap)
        standing = "The auction is on." if state.auction.closed_by is None else "The auction is over."
    row, column = shown.square
    place = f"The piece is on row {row}, column {column} of a board of {len(shown.board)}."
    label = f"{place} {side_drawing.told(sides)}. {verdict or standing}"
    return h(
        "div",
        {"class": "half_hearted_step"},
        h("div", {"role": "img", "aria-label": label}, board_drawing.draw(shown)),
        board_drawing.told(shown),
        h("div", {"class": "half_hearted_step-beside"}, side_drawing.draw_sides(sides), below),
    )


def _sides(names: Sequence[str], state: AnyState, doing: Sequence[str], turn: Turn | None) -> list[Side]:
    own, lives = marks(names), state.table.lives
    now = state.position if isinstance(state, PlayState) else None
    return [
        Side(
            name=name,
            mark=own[seat],
            role="" if now is None else f"{'↔' if seat == now.horizontal else '↕'} {ways(now.axis(seat))}",
            doing=doing[seat],
            gain=_gain(turn) if turn and turn.active == seat else "",
            points=now.points[seat] if now else 0,
            lives=now.lives[seat] if now else lives,
            of=lives,
            active=seat in _acting(state),
            note=_note(state, seat),
        )
        for seat, name in enumerate(names)
    ]


def _gain(turn: Turn) -> str:
    return "−1 life" if turn.number is None else f"{turn.number:+d}"


def _acting(state: AnyState) -> tuple[Seat, ...]:
    """Whose panel stands out: the active seat of the next turn, or who is asked before play."""
    if isinstance(state, PlayState):
        return (state.position.active,) if state.to_act else ()
    return tuple(state.to_act) if isinstance(state, ChoiceState) else ()


def _note(state: AnyState, seat: Seat) -> str:
    if not state.to_act:
        return ""
    match state:
        case PlayState(position=now):
            parts = ["active next" if now.active == seat else "", "stayed, must move" if now.stayed[seat] else ""]
            return ", ".join(part for part in parts if part)
        case ChoiceState():
            return "chooses next" if seat in state.to_act else ""
        case AuctionState(auction=auction):
            return "priority next" if auction.priority_in(len(auction.rounds)) == seat else ""


def _stakes(contest: Contest, state: PlayState) -> Stakes:
    points = state.position.points
    return Stakes(contest.holder, contest.threshold, contest.lead(points), contest.winner(points), not state.to_act)


def _rungs(auction: Auction) -> list[Rung]:
    rungs: list[Rung] = []
    standing: Call | None = None
    for number, sealed in enumerate(auction.rounds):
        priority = auction.priority_in(number)
        standing = _standing(sealed, priority, standing)
        rungs.append(Rung(number + 1, priority, (_said(sealed[0]), _said(sealed[1])), standing))
    return rungs


def _standing(sealed: Sealed, priority: Seat, standing: Call | None) -> Call | None:
    calls = called(sealed, priority)
    return calls[-1] if calls else standing


def _counts(state: AnyState) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if isinstance(state, PlayState):
        now, contest = state.position, state.contest
        needs = tuple(f"lead {contest.threshold}" if seat == contest.holder else "-" for seat in (0, 1))
        return (("points", _texts(now.points)), ("lives", _texts(now.lives)), ("needs", needs))
    standing = state.auction.standing
    held = tuple(str(standing.bid) if standing and standing.seat == seat else "-" for seat in (0, 1))
    return (("points", ("0", "0")), ("lives", (str(state.table.lives),) * 2), ("standing bid", held))


def _texts(numbers: Sequence[int]) -> tuple[str, ...]:
    return tuple(map(str, numbers))
