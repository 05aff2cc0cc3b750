"""The colours of pages: text stands out, and seats can be told apart."""

from __future__ import annotations

from itertools import combinations
from math import dist
from operator import mul

import pytest

from weigh.harness.web.palette import PAPER, SEATS, palette_css
from weigh.harness.web.scene import COLOURS, seat_class


def linear(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def luminance(colour):
    return sum(map(mul, (0.2126, 0.7152, 0.0722), linear(colour)))


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_every_colour_of_text_stands_out_from_what_it_stands_on(theme):
    ground = [PAPER[name][theme] for name in ("paper", "raised", "card")]
    for name in ("ink", "quiet", "good", "bad", "loud", "link"):
        assert all(contrast(PAPER[name][theme], under) >= 4.5 for under in ground), name
    for pair in SEATS:
        assert all(contrast(pair[theme], under) >= 4.5 for under in ground), pair
        assert contrast(PAPER["on-seat"][theme], pair[theme]) >= 4.5, pair
    assert contrast(PAPER["on-loud"][theme], PAPER["loud"][theme]) >= 4.5
    assert contrast(PAPER["gold-ink"][theme], PAPER["gold"][theme]) >= 4.5


BLINDNESS = {
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039)),
}
"""What is left of linear RGB: Machado, Oliveira & Fernandes, IEEE TVCG 15 (2009), severity 1."""


def lab(colour, seen):
    """CIELAB under D65 of a colour as somebody sees it."""
    red, green, blue = (min(1.0, max(0.0, sum(map(mul, row, linear(colour))))) for row in seen)
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883
    a, b, c = (part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116 for part in (x, y, z))
    return 116 * b - 16, 500 * (a - b), 200 * (b - c)


@pytest.mark.parametrize("kind", BLINDNESS)
@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_the_first_four_seats_differ_for_colour_blind_readers(theme, kind):
    seen = [lab(pair[theme], BLINDNESS[kind]) for pair in SEATS[:4]]
    assert min(dist(one, other) for one, other in combinations(seen, 2)) > 15


def test_there_is_a_colour_for_each_class_and_no_two_are_alike():
    css = palette_css()
    assert len(SEATS) == COLOURS
    assert all(f".{seat_class(seat)}{{" in css for seat in range(26))
    assert all(one != other for theme in (0, 1) for one, other in combinations([pair[theme] for pair in SEATS], 2))
