"""Worked examples of Persistent Calibration as data: what a table of steps comes to, round by round and at the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any


@dataclass(frozen=True)
class Example:
    steps: tuple[str, ...]
    """As `tests.games.persistent_calibration_play` reads them."""
    points: tuple[tuple[int, ...], ...]
    """Each seat's points after each step."""
    totals: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For some scales `left|right` after each step."""
    config: Mapping[str, Any] = field(default_factory=dict)
    rank: tuple[Fraction | int, ...] = ()
    share: tuple[Fraction | int, ...] = ()
    measures: Mapping[str, Any] = field(default_factory=dict)
    """Some of those at the end."""


EXAMPLES: Mapping[str, Example] = {
    "C1": Example(("AL3 AR2",), ((0, 2),), {"A": ("3|2",)}),
    "C2": Example(("AL2 AR2",), ((0, 0),), {"A": ("2|2",)}),
    "C3": Example(("AL3 BR1",), ((0, 0),), {"A": ("3|0",), "B": ("0|1",)}),
    "C4": Example(
        ("AL1 AR3", "AL3 BL1", "BR2 AR2", "CL3 CR2", "BL1 AL1", "CR2 CL3"),
        ((1, 0), (1, 3), (5, 4), (9, 7), (9, 9), (11, 11)),
        {
            "A": ("1|3", "4|3", "4|5", "4|5", "5|5", "5|5"),
            "B": ("0|0", "1|0", "1|2", "1|2", "2|2", "2|2"),
            "C": ("0|0", "0|0", "0|0", "3|2", "3|2", "6|4"),
        },
        rank=(0, 0),
        share=(0, 0),
        measures={
            "winners": [0, 1],
            "elimination_candidates": [0, 1],
            "tokens_of_life": [2, 2],
            "garnets_earned": [1, 1],
            "garnets_final": [1, 1],
            "points_by_round": [[1, 0, 4, 4, 0, 2], [0, 3, 1, 3, 2, 2]],
            "totals": {"A": [5, 5], "B": [2, 2], "C": [6, 4]},
        },
    ),
    "C5": Example(
        ("AL3 AR3 AR3", "AL2 AR2 AR2", "AL1 AR1 AR1") * 2,
        ((3, 0, 0), (8, 0, 0), (14, 0, 0), (23, 0, 0), (34, 0, 0), (46, 0, 0)),
        {"A": ("3|6", "5|10", "6|12", "9|18", "11|22", "12|24")},
        rank=(1, Fraction(-1, 2), Fraction(-1, 2)),
        share=(1, Fraction(-1, 2), Fraction(-1, 2)),
        measures={
            "winners": [0],
            "elimination_candidates": [1, 2],
            "tokens_of_life": [4, 0, 0],
            "garnets_earned": [7, 0, 0],
        },
    ),
    "C6": Example(
        ("AL1 -", "AL2 AR3", "BL3 -", "AR1 AL1"),
        ((0, 0), (0, 0), (0, 0), (0, 0)),
        {"A": ("1|0", "3|3", "3|3", "4|4")},
    ),
    "C8": Example(
        ("AL1++ AR3-", "CL2 AR1"),
        ((0, 2), (0, 2)),
        {"A": ("3|2", "3|3")},
        config={"starting_garnets": 2},
    ),
    "C10": Example(
        ("AL1 AL3 AL2 AR3 AR2 BL1 BL1 BR2 CL3 CL3 CL1 CR3 CR1",),
        ((0, 0, 0, 3, 2, 0, 0, 0, 0, 0, 0, 3, 1),),
        {"A": ("6|5",), "B": ("2|2",), "C": ("7|4",)},
    ),
    "C13": Example(
        ("AL3 AR1 BL1", "AR2 AR3 BL2", "CL1 AR2 BR3", "AL3 CR1 CL2", "AL2 CR3 CL1", "AL1 BR2 BR3"),
        ((0, 1, 0), (3, 1, 0), (6, 1, 0), (12, 2, 0), (12, 2, 0), (14, 8, 3)),
        {
            "A": ("3|1", "3|6", "3|8", "6|8", "8|8", "9|8"),
            "B": ("1|0", "3|0", "3|3", "3|3", "3|3", "3|8"),
            "C": ("0|0", "0|0", "1|0", "3|1", "4|4", "4|4"),
        },
        rank=(1, 0, -1),
        share=(Fraction(17, 50), Fraction(-1, 50), Fraction(-16, 50)),
        measures={"winners": [0], "elimination_candidates": [2], "tokens_of_life": [4, 0, 0]},
    ),
}
"""By the name they are known under; the numbers between are not given."""
