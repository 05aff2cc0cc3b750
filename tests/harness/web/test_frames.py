"""Frames of every game: whatever is played, it is shown, and the last frame tells what the record tells."""

from __future__ import annotations

import json

import pytest

from tests.harness.web.episodes import played
from weigh.games.game import GameError
from weigh.games.registry import GAMES
from weigh.harness.web.scenes import NoPictures, board_view
from weigh.harness.web.svg import ATTRIBUTES, HTML_TAGS, SVG_TAGS, Element
from weigh.harness.web.viewer.episode import episode_data
from weigh.harness.web.viewer.frames import frames_of, states_of


def elements(tree: Element):
    yield tree
    for child in tree.children:
        if isinstance(child, Element):
            yield from elements(child)


@pytest.mark.parametrize("name", GAMES)
def test_every_game_has_a_board_view_with_a_style_of_its_own(name):
    style = board_view(name).STYLE
    assert f".{name}" in style
    assert "url(" not in style
    assert "@import" not in style
    assert "</" not in style


@pytest.mark.parametrize("stop", [None, 0, 2])
@pytest.mark.parametrize("name", GAMES)
def test_a_random_episode_of_every_game_is_shown_to_its_end(name, stop):
    record = played(name, seed=5, stop=stop)
    told = frames_of(record)
    assert told.frames[0].step == -1
    steps = [frame.step for frame in told.frames]
    assert steps == sorted(steps)
    assert set(steps) == set(range(-1, len(record.moves) + (stop is not None)))
    assert told.frames[-1].kind == "end"
    assert told.scores is not None
    assert tuple(map(float, told.scores)) == record.scores
    for frame in told.frames:
        assert frame.label
        assert frame.feed
        assert all(frame.feed)
        assert all(len(texts) == len(record.entrants) for _, texts in frame.counts)
        for element in elements(frame.picture):
            assert element.tag in HTML_TAGS | SVG_TAGS
            assert element.attributes.keys() <= ATTRIBUTES
    assert all(f"{value:+.4f}" in str(episode_data(record)["seats"]) or value == 0 for value in record.scores)


@pytest.mark.parametrize("name", GAMES)
def test_every_overbid_of_the_engine_is_a_loud_beat(name):
    record = played(name, seed=11)
    events = [event for event in record.events if event["type"] == "overbid"]
    frames = [frame for frame in frames_of(record).frames if frame.kind == "overbid"]
    assert len(frames) == len(events)
    assert all(frame.banner and "OVERBID" in frame.banner for frame in frames)


@pytest.mark.parametrize("name", GAMES)
def test_hostile_names_stay_text_and_pictures_stay_small(name):
    seats = len(played(name).entrants)
    hostile = ["</script><script>alert(1)</script>", "\u202eevil\x1b[31m", "<img src=x onerror=alert(1)>", "x" * 5_000]
    record = played(name, entrants=tuple((hostile * seats)[:seats]))
    for frame in frames_of(record).frames:
        html = frame.picture.to_html()
        assert "<script" not in html
        assert "<img" not in html
        assert "\u202e" not in html + "".join(frame.feed)
        assert "xxxxxxxxxxxxxxxxxxxxxxxxxxxxx" not in html
    json.dumps(episode_data(record))


def test_a_moments_positions_come_from_the_engine_and_not_from_the_record():
    honest = played("oshi_zumo", {"coins": 6}, seed=2)
    forged = honest.model_copy(update={"scores": (0.5, -0.5), "events": (), "ending": "round-cap"})
    assert frames_of(forged) == frames_of(honest)
    assert len(episode_data(forged)["warnings"]) >= 3  # type: ignore[arg-type]
    assert episode_data(honest)["warnings"] == []


def test_a_record_that_cannot_be_played_is_refused_with_its_step():
    record = played("oshi_zumo", {"coins": 6})
    with pytest.raises(GameError, match="step 0, seat 1: 7 is not a legal bid"):
        frames_of(record.model_copy(update={"moves": ((1, 7),)}))
    with pytest.raises(GameError, match="aliases must have one entry for each of 2 seats"):
        states_of(record.model_copy(update={"aliases": ("Ash",)}))


def test_a_game_without_a_board_view_has_no_pictures():
    with pytest.raises(NoPictures, match='no pictures for the game "toy"'):
        board_view("toy")
