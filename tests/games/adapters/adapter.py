"""What the conformance suite must be told of a game, because no contract can say it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, TypeAlias

from weigh.games.game import AnyGame, Deal, Json, Legal, Move, Outcome, Seat, State

Steps: TypeAlias = list[list[Move]]
"""A row a step, an entry per seat, None for a seat that had no move to make."""

Order: TypeAlias = tuple[Seat, ...]
"""A relabelling: the seat that sits at each place afterwards."""


def as_it_is(legal: Legal, candidate: Any) -> Any:
    """The answer that says `candidate`: under the one key, or the candidate itself where there are several."""
    keys = legal.answer.keys
    return {keys[0]: candidate} if len(keys) == 1 else candidate


@dataclass(frozen=True)
class Adapter:
    configs: tuple[Mapping[str, Any], ...]
    """Configs worth testing, as their fields; the default `{}` among them."""
    candidates: tuple[Any, ...]
    """Values put before every legal set, most of them legal nowhere or only sometimes."""
    exact_schema: bool
    """Whether a candidate fits the answer's schema exactly when it is a legal move, and not only if."""
    twins: Callable[[AnyGame, Any, Random], Iterator[tuple[State, State, Sequence[Seat]]]] | None
    """Pairs of states that differ, with the seats that cannot tell them apart; None for a game without secrets."""
    orders: Callable[[int], Sequence[Order]]
    """The relabellings of that many seats under which the game is the same."""
    relabel: Callable[[Any, Deal, Steps, Order], tuple[Deal, Steps]]
    """The same episode with the seats relabelled."""
    relabel_measures: Callable[[Any, Mapping[str, Any], Order], Mapping[str, Any]]
    """What its measures must then be."""
    check_measures: Callable[[Any, int, Outcome], None]
    """Asserts what must hold between the config, the number of steps and the measures."""
    answer: Callable[[Legal, Any], Any] = as_it_is
    """The answer in which a model says a candidate; only for games that keep moves in another form than answers."""


def permuted(row: Sequence[Json], order: Order) -> list[Json]:
    return [row[seat] for seat in order]
