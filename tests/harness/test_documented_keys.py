"""The JSON forms against docs/method.md: every key there is is documented in its section."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.harness.audit.collusion.leagues import League
from tests.harness.results.ladder_frames import four
from tests.harness.results.ranking.pair_cases import board, pairs, rock_paper_scissors
from weigh.harness.audit.collusion.audit import Settings, audit
from weigh.harness.audit.collusion.rematch import Answer, Contrast, Level
from weigh.harness.audit.collusion.seats import RunOf
from weigh.harness.audit.measures.persistent_calibration import Correlation
from weigh.harness.results.ranking.ladder import rank
from weigh.harness.results.ranking.warning_words import ITEMS, WORDS
from weigh.harness.store.usage import Account, Usage

METHOD = (Path(__file__).resolve().parents[2] / "docs" / "method.md").read_text(encoding="utf-8")

BY_NAME = {"faults", "taken", "unranked"}
"""Keys whose tables have names for keys; of a standing, `unranked` is a text."""


def documented(section: str) -> set[str]:
    """What stands as code in a section, without the marks for lists and tables."""
    start = METHOD.index(f"\n## {section}\n")
    end = METHOD.find("\n## ", start + 1)
    code = re.findall(r"`([^`\n]+)`", METHOD[start : end if end > 0 else None])
    return {text.removeprefix(".").removesuffix("[]").removesuffix("{}") for text in code}


def keys(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, below in value.items():
            yield key
            if key not in BY_NAME:
                yield from keys(below)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from keys(item)


def missing(document: object, section: str) -> list[str]:
    return sorted(set(keys(document)) - documented(section))


def test_every_key_of_a_ladder() -> None:
    assert missing(rank(four()).to_json(), "The JSON form") == []
    counted = set(keys(Account(None, None, None, Usage()).to_json()))
    assert counted - documented("The JSON form") == set()


def test_every_kind_of_caveat() -> None:
    kinds = {name.partition(".")[0] for name in WORDS}
    assert kinds - documented("The JSON form") == set()
    assert set(ITEMS) <= kinds


def test_every_key_of_a_second_board() -> None:
    assert missing(board(rock_paper_scissors()).to_json(), "The JSON form") == []


def test_every_key_of_the_pairs() -> None:
    found = pairs(rock_paper_scissors())
    assert found.intransitive_triple is not None
    assert found.lottery is not None
    assert missing(found.to_json(), "The JSON form") == []


def test_every_key_of_an_audit() -> None:
    league = League(("ann", "bob", "cat", "dan", "eve", "fay", "gus"), blocks=42, feeders={"ann": "bob"})
    found = audit(
        [RunOf("a", 5, league.records())],
        Settings(permutations=999),
        expected={"a": {"persistent_calibration": 1}},
        side_correlations={("ann", "bob"): Correlation(40, 0.5)},
    )
    (table, other) = found.to_json()["games"]  # type: ignore[misc]
    assert table["flagged"]
    assert table["flagged"][0]["gain"]["rounds"]
    assert other["side_correlations"]
    assert missing(found.to_json(), "The collusion audit") == []


def test_every_key_of_a_rematch() -> None:
    contrast = Contrast("aliases", 1, 1, 0.0, None, None)
    answer = Answer(("ann", "bob"), "match", (Level("first", 1, 1, 0, 1, 0.5),), (contrast,))
    assert missing(answer.to_json(), "The collusion audit") == []
