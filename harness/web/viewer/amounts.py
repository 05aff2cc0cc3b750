"""Exact numbers as people write them. Owns the wording of fractions, scores and moves; knows no game and no page."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Final

from weigh.games.game import Json

_LONG_NUMBER: Final = re.compile(r"\d{13,}(?:\.\d+)?")


def legible(text: str) -> str:
    """A line of facts in which numbers of more than 12 digits say their magnitude: nobody counts the others.

    >>> legible("seed 12345678901234567, 3 cards")
    'seed 1.235e16, 3 cards'
    """
    return _LONG_NUMBER.sub(lambda found: f"{Decimal(found[0]):.3e}".replace("e+", "e"), text)


def amount(value: Fraction | int) -> str:
    """An exact number, whole part first: `4`, `3 1/2`, `-1/3`.

    >>> amount(Fraction(7, 2))
    '3 1/2'
    """
    exact = Fraction(value)
    whole, rest = divmod(abs(exact.numerator), exact.denominator)
    sign = "-" if exact < 0 else ""
    if not rest:
        return f"{sign}{whole}"
    return f"{sign}{f'{whole} ' if whole else ''}{rest}/{exact.denominator}"


def score(value: Fraction | float) -> str:
    """A score with its sign, and four decimals: `+0.2727`, `-1.0000`, `0.0000`."""
    text = f"{float(value):+.4f}"
    return "0.0000" if float(text) == 0 else text


def exact_score(value: Fraction) -> str:
    """A score with its sign, as it was settled: `+3/11`, `-1`, `0`."""
    return f"+{amount(value)}" if value > 0 else amount(value)


def move_text(move: Json) -> str:
    """A move in a few characters: a number or a word as it is, lists and objects by their items, else as JSON."""
    if isinstance(move, str):
        return move
    if move is None:
        return "none"
    if isinstance(move, list | tuple) and all(isinstance(item, str | int | float) for item in move):
        return " ".join(str(item) for item in move)
    if isinstance(move, Mapping) and all(isinstance(item, str | int | float | None) for item in move.values()):
        return ", ".join(f"{key} {'none' if item is None else item}" for key, item in move.items())
    return json.dumps(move, ensure_ascii=False)
