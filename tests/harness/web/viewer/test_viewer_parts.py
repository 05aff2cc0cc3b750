"""The small parts of the viewer: amounts, marks, colours, and trees that share what they have in common."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations
from math import dist
from operator import mul

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.harness.web.viewer.episodes import played
from weigh.games.registry import GAMES
from weigh.harness.seeds import NAMES
from weigh.harness.web.viewer.amounts import amount, exact_score, legible, move_text, score
from weigh.harness.web.viewer.frames import frames_of
from weigh.harness.web.viewer.nodes import h
from weigh.harness.web.viewer.palette import PAPER, SEATS, palette_css
from weigh.harness.web.viewer.seat_marks import COLOURS, marks, seat_class, short
from weigh.harness.web.viewer.shared_trees import share, unshared


@pytest.mark.parametrize(
    ("value", "said"),
    [(4, "4"), (Fraction(7, 2), "3 1/2"), (Fraction(-1, 3), "-1/3"), (Fraction(-7, 3), "-2 1/3"), (Fraction(0), "0")],
)
def test_amounts_are_exact(value, said):
    assert amount(value) == said


@given(st.fractions(max_denominator=5_000))
def test_an_amount_can_be_read_back(value):
    whole, _, rest = amount(abs(value)).rpartition(" ")
    assert Fraction(rest) + (Fraction(whole) if whole else 0) == abs(value)
    assert amount(-abs(value)).startswith("-") is (value != 0)


def test_scores_have_a_sign_unless_they_are_nothing():
    assert [score(Fraction(3, 11)), score(-1.0), score(-0.0), score(0.00001)] == [
        "+0.2727",
        "-1.0000",
        "0.0000",
        "0.0000",
    ]
    assert [exact_score(Fraction(3, 11)), exact_score(Fraction(-1)), exact_score(Fraction(0))] == ["+3/11", "-1", "0"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("3 cards, 123456789012 coins", "3 cards, 123456789012 coins"),
        ("seed 12345678901234567", "seed 1.235e16"),
        (f"cost ${10**300}.00 · 2.25 s", "cost $1.000e300 · 2.25 s"),
    ],
)
def test_numbers_that_nobody_can_read_say_their_magnitude(line, told):
    assert legible(line) == told


@pytest.mark.parametrize(
    ("move", "said"),
    [
        (7, "7"),
        ("up", "up"),
        (None, "none"),
        (["place", 3, 1, 5], "place 3 1 5"),
        ({"scale": "C", "weight": 3, "modify": None}, "scale C, weight 3, modify none"),
        ([["a"], {}], '[["a"], {}]'),
    ],
)
def test_moves_are_told_in_few_characters(move, said):
    assert move_text(move) == said


@given(st.permutations(NAMES), st.integers(2, 26))
def test_marks_differ_for_any_table_of_aliases(names, seats):
    table = [f"{name} (somebody)" for name in names[:seats]]
    own = marks(table)
    assert len(set(own)) == seats
    assert all(len(mark) <= 3 for mark in own)
    assert all(name.startswith(mark) for name, mark in zip(table, own, strict=True))


def test_marks_fall_back_to_numbers_where_letters_do_not_tell():
    assert marks(["Ash", "Ash", "Elm"]) == ("0", "1", "E")
    assert marks(["0", "Ash", "Ash"]) == ("0", "1", "2")
    assert marks(["\u202e", "Elm"]) == ("0", "E")
    assert short("Ash (mine (old))") == "Ash"


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


TREES = st.recursive(
    st.text(max_size=20).map(lambda text: h("p", None, text)),
    lambda inner: st.lists(st.one_of(inner, st.text(max_size=20)), max_size=4).map(
        lambda children: h("div", {"class": "a-class-of-some-length"}, *children)
    ),
    max_leaves=12,
)


@given(st.lists(TREES, max_size=4))
def test_shared_trees_are_the_same_trees(trees):
    found = share(trees)
    assert [unshared(tree, found.shared) for tree in found.trees] == [tree.to_json() for tree in trees]
    assert json.loads(json.dumps(found.shared)) == list(found.shared)


def test_a_shared_tree_leads_to_earlier_ones_only():
    def references(tree):
        if isinstance(tree, int):
            yield tree
        elif not isinstance(tree, str):
            for child in tree[2:]:
                yield from references(child)

    found = share([frame.beat.picture for frame in frames_of(played("goofspiel")).frames])
    assert found.shared
    for place, tree in enumerate(found.shared):
        assert all(reference < place for reference in references(tree))


@pytest.mark.parametrize("name", GAMES)
def test_sharing_saves_room(name):
    pictures = [frame.beat.picture for frame in frames_of(played(name)).frames]
    found = share(pictures)
    whole = len(json.dumps([picture.to_json() for picture in pictures]))
    assert len(json.dumps([found.shared, found.trees])) < 0.7 * whole
