"""Half-Hearted Step as pictures: the auction of a lead, then a piece that two seats move, each along its own axis.

Owns its frames: each round of the auction, the winner's choice, each turn with both half-moves, and the end. Every
number is the engine's. What stands next to the board is drawn here and in `half_hearted_step_sides`, the board in
`half_hearted_step_board`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, cast

from weigh.games.game import Move, Outcome, Seat, State
from weigh.games.half_hearted_step.moves import ME, PASS, VERTICAL, ways, worded
from weigh.games.half_hearted_step.play import Position, called
from weigh.games.half_hearted_step.rules import AuctionState, ChoiceState, PlayState
from weigh.harness.web.assets import asset
from weigh.harness.web.scene import Board, Counts, Frame, Names, full_score, listed, marks, seat_class
from weigh.harness.web.scenes.half_hearted_step_board import AnyState, Squares, turns_of
from weigh.harness.web.scenes.half_hearted_step_sides import ladder, stakes
from weigh.harness.web.svg import Element, h, part

STYLE: Final = asset("scenes/half_hearted_step.css")

_GAME: Final = "half_hearted_step"


def words(before: State, seat: Seat, move: Move) -> str:
    """The bid, the choice or the half-move: see `harness.web.scene.BoardView`."""
    if isinstance(before, PlayState):
        return worded(before.position.axis(seat), cast(int, move))
    if isinstance(before, ChoiceState):
        choice = cast(Mapping[str, str], move)
        return f"{'first' if choice['active'] == ME else 'second'}, {choice['axis']}"
    return "passes" if move == PASS else f"bids {move}"


def opening(names: Names, state: AnyState) -> Iterator[Frame]:
    """The board, and who has priority."""
    size = len(state.table.board)
    lines = [
        f"The piece starts in the middle of a board of {size} × {size} numbers. "
        f"Each seat has {_counted(state.table.lives, 'life', 'lives')}."
    ]
    if isinstance(state, PlayState):
        lines += [_terms(names, state), _lead(names, state)]
    else:
        lines.append(f"First comes an auction; {names[state.auction.priority]} has priority in its first round.")
    yield Match(names, state).frame("start", "the board", *lines)


def played(names: Names, before: AnyState, after: AnyState) -> Iterator[Frame]:
    """A round of the auction, the choice, or a turn."""
    if not isinstance(after, PlayState):
        yield _bid(names, after)
    elif after.turns:
        yield _moved(names, cast(PlayState, before).position, after)
    else:
        yield _chosen(names, after)


_CLOSED: Final = {
    "all-pass": "Nobody bid any more",
    "no-bid": "Nobody opened the auction",
    "cap": "That was the last round of the auction",
}


def _bid(names: Names, state: AuctionState | ChoiceState) -> Frame:
    auction, own = state.auction, marks(names)
    number, sealed = len(auction.rounds), auction.rounds[-1]
    bids = tuple("passes" if bid is None else f"bids {bid}" for bid in sealed)
    lines = [f"Auction round {number}: {listed(names, bids)}."]
    calls = called(sealed, auction.priority_in(number - 1))
    if calls and sealed[0] == sealed[1]:
        lines.append(f"The bids are equal: that of {names[calls[0].seat]}, who has priority, stands.")
    elif auction.standing is not None and auction.closed_by != "no-bid":
        lines.append(f"{names[auction.standing.seat]}'s bid {auction.standing.bid} stands.")
    else:
        lines.append("No bid stands.")
    banner = None
    if auction.closed_by is not None and auction.standing is not None:
        holder, threshold = auction.standing
        lines.append(f"{_CLOSED[auction.closed_by]}: {names[holder]} holds the threshold {threshold}, and chooses.")
        banner = f"AUCTION WON: {own[holder]} holds {threshold}"
    label = f"auction {number}: {listed(own, (PASS if bid is None else bid for bid in sealed))}"
    return Match(names, state, doing=bids).frame("auction", label, *lines, banner=banner)


def _chosen(names: Names, state: PlayState) -> Frame:
    holder, first, own = state.contest.holder, state.first, marks(names)
    return Match(names, state, doing=tuple("chooses" if seat == holder else "" for seat in (0, 1))).frame(
        "event",
        f"{own[holder]} chooses: {own[first.active]} first, {own[holder]} {first.axis(holder)}",
        f"{names[holder]} chooses.",
        _terms(names, state),
        _lead(names, state),
    )


def _terms(names: Names, state: PlayState) -> str:
    first = state.first
    axes = ", ".join(f"{names[seat]} moves {ways(first.axis(seat))}" for seat in (0, 1))
    return f"{names[first.active]} is active first. {axes}."


def _moved(names: Names, origin: Position, state: PlayState) -> Frame:
    turn, number, now = state.turns[-1], len(state.turns), state.position
    active, mark = turn.active, marks(names)[turn.active]
    doing = tuple(worded(now.axis(seat), turn.moves[seat]) for seat in (0, 1))
    stay = worded(VERTICAL, 0)
    doing = tuple("stays" if step == stay else step for step in doing)
    goes = [step if step == "stays" else f"goes {step}" for step in doing]
    lines = [
        f"Turn {number}: {names[active]}, who is active, {goes[active]}; {names[1 - active]} {goes[1 - active]}. "
        f"The piece lands on row {turn.square[0]}, column {turn.square[1]}."
    ]
    banner = None
    if turn.number is None:
        left = now.lives[active]
        lives = _counted(left, "life", "lives") if left else "no life"
        lines.append(f"It was there before: {names[active]} loses a life and has {lives} left.")
        label, banner = f"turn {number}: {mark} loses a life", f"LIFE LOST: {mark} has {left} left"
    else:
        points = _counted(now.points[active], "point", "points")
        lines.append(f"A new square: {names[active]} gets {turn.number} and has {points}.")
        label = f"turn {number}: {mark} {turn.number:+d}"
    lines.append(_lead(names, state))
    if state.to_act:
        lines.append(f"{names[now.active]} is active {'next' if now.active != active else 'again'}.")
    return Match(names, state, doing=doing, origin=origin).frame("move", label, *lines, banner=banner)


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _lead(names: Names, state: PlayState) -> str:
    contest, points = state.contest, state.position.points
    return (
        f"The lead of {names[contest.holder]} is {contest.lead(points)}, needed is {contest.threshold}: "
        f"{names[contest.winner(points)]} would win now."
    )


def ended(names: Names, state: AnyState, outcome: Outcome) -> Frame:
    """Who wins by which lead."""
    why, verdict = "The clock stopped the game before play began.", "Nobody wins: a draw."
    if isinstance(state, PlayState):
        contest, points = state.contest, state.position.points
        why = "The clock stopped the game." if state.stopped else "All lives are lost."
        verdict = (
            f"The lead of {names[contest.holder]} is {contest.lead(points)}, needed was {contest.threshold}: "
            f"{names[contest.winner(points)]} wins, {points[0]} to {points[1]} points."
        )
    results = tuple(map(full_score, outcome.scores))
    scores = f"Scores: {listed(names, results)}."
    shown = Match(names, state, doing=results, verdict=f"{verdict} {scores}")
    return shown.frame("end", f"end: {outcome.ending}", why, verdict, scores)


@dataclass(frozen=True)
class Match(Board):
    """One position, and what is pointed at in it."""

    game = _GAME
    names: Names
    state: AnyState
    doing: tuple[str, ...] = ("", "")
    """What each seat did in the step that is shown, or its score at the end."""
    origin: Position | None = None
    """Where the picture is about the last turn: the position in which it began."""
    verdict: str = ""
    """At the end only."""

    @property
    def now(self) -> Position | None:
        """None before play."""
        return self.state.position if isinstance(self.state, PlayState) else None

    def points(self, seat: Seat) -> int:
        return self.now.points[seat] if self.now else 0

    def lives(self, seat: Seat) -> int:
        return self.now.lives[seat] if self.now else self.state.table.lives

    def counts(self) -> Counts:
        if isinstance(self.state, PlayState):
            holder, threshold = self.state.contest
            last = "needs", tuple(f"lead {threshold}" if seat == holder else "-" for seat in (0, 1))
        else:
            call = self.state.auction.standing
            last = "standing bid", tuple(str(call.bid) if call and call.seat == seat else "-" for seat in (0, 1))
        points, lives = (tuple(str(of(seat)) for seat in (0, 1)) for of in (self.points, self.lives))
        return (("points", points), ("lives", lives), last)

    def draw(self) -> Element:
        if isinstance(self.state, PlayState):
            below, standing = stakes(self.names, self.marks, self.state), _lead(self.names, self.state)
        else:
            below = ladder(self.state.auction, self.marks)
            standing = f"The auction is {'on' if self.state.auction.closed_by is None else 'over'}."
        board = Squares(self.marks, self.state, self.origin)
        place = f"The piece is on row {board.way[-1][0]}, column {board.way[-1][1]} of a board of {board.size}."
        seats = listed(
            self.names,
            (f"{self.points(seat)} points and {_counted(self.lives(seat), 'life', 'lives')}" for seat in (0, 1)),
        )
        label = f"{place} {seats}. {self.verdict or standing}"
        sides = part("div", f"{_GAME}-sides", self._side(0), self._side(1))
        return part(
            "div",
            _GAME,
            h("div", {"role": "img", "aria-label": label}, board.draw()),
            board.in_words(),
            part("div", f"{_GAME}-beside", sides, below),
        )

    def _side(self, seat: Seat) -> Element:
        points, lives, of = self.points(seat), self.lives(seat), self.state.table.lives
        worth = h("b", None, str(points)), h("small", None, "point" if points == 1 else "points")
        left = h("small", None, f" {_counted(lives, 'life', 'lives')}")
        gain = self._gain(seat)
        axis = f"{'↔' if seat == self.now.horizontal else '↕'} {ways(self.now.axis(seat))}" if self.now else ""
        return part(
            "div",
            f"{_GAME}-side {seat_class(seat)}{f' {_GAME}-active' if self._stands_out(seat) else ''}",
            self.who(seat),
            part("div", f"{_GAME}-doing", self.doing[seat], h("strong", None, gain) if gain else None),
            part("div", f"{_GAME}-worth", *worth),
            part("div", f"{_GAME}-lives", f"{'●' * lives}{'○' * (of - lives)}", left),
            h("small", None, " · ".join(filter(None, (axis, self._note(seat))))),
        )

    def _gain(self, seat: Seat) -> str:
        """What the turn that is shown brought a seat: `+4`, `−1 life`; empty for nothing."""
        turn = turns_of(self.state)[-1] if self.origin else None
        if turn is None or turn.active != seat:
            return ""
        return "−1 life" if turn.number is None else f"{turn.number:+d}"

    def _stands_out(self, seat: Seat) -> bool:
        """The active seat of the next turn, or the one that chooses."""
        if self.now is not None:
            return bool(self.state.to_act) and seat == self.now.active
        return isinstance(self.state, ChoiceState) and seat in self.state.to_act

    def _note(self, seat: Seat) -> str:
        if not self.state.to_act:
            return ""
        match self.state:
            case PlayState(position=now):
                notes = "active next" if now.active == seat else "", "stayed, must move" if now.stayed[seat] else ""
                return ", ".join(filter(None, notes))
            case ChoiceState():
                return "chooses next" if seat in self.state.to_act else ""
            case AuctionState(auction=auction):
                return "priority next" if auction.priority_in(len(auction.rounds)) == seat else ""
