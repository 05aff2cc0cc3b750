"""Colours: legible in both themes, and never the only difference."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from weigh.harness.report.render.html import MARKS, SERIES, STEPS, TONES, colours_css, tone
from weigh.harness.web.palette import PAPER


def luminance(colour):
    """WCAG 2.2, relative luminance."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_numbers_are_legible_on_every_tone(theme):
    ink = PAPER["ink"][theme]
    assert min(contrast(ink, pair[theme]) for pair in TONES.values()) >= 4.5


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_marks_stand_out_from_the_paper(theme):
    paper = PAPER["paper"][theme]
    assert all(contrast(MARKS[name][theme], paper) >= 3 for name in ("mean", "adjusted", "zero"))


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_neighbouring_series_differ_in_lightness(theme):
    light = [luminance(pair[theme]) for pair in SERIES]
    assert all(abs(one - other) > 0.08 for one, other in pairwise(light))


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_stronger_tones_are_further_from_the_middle(theme):
    for side in ("above", "below"):
        steps = [luminance(TONES[f"{side}-{step}"][theme]) for step in range(1, STEPS + 1)]
        assert steps == sorted(steps, reverse=theme == 0)


@pytest.mark.parametrize(
    ("value", "name"),
    [(1, "above-4"), (-1, "below-4"), (0.5, "above-2"), (0.1, "level"), (0, "level"), (9, "above-4"), (None, None)],
)
def test_a_tone_is_its_share_of_the_most(value, name):
    assert tone(value, 1.0) == name


def test_nothing_differs_where_nothing_can():
    assert tone(0.0, 0.0) == "level"


def test_paper_is_printed_as_in_the_light_theme():
    css = colours_css()
    light, dark, printed = re.findall(r":root\{([^}]*)\}", css)
    assert light == printed != dark
    assert set(re.findall(r"--([a-z0-9-]+):", light)) == set(re.findall(r"--([a-z0-9-]+):", dark))
