"""One episode as the data of a page: its frames, its facts in words, and how each move came about.

Owns the shape that the page's script reads (`assets/episode.js`). Everything in it is text or numbers; the only markup
are picture trees, from which the script makes elements of a fixed list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weigh.games.game import Json
from weigh.harness.audit.verify.record import verify_record
from weigh.harness.store.record import Record
from weigh.harness.web.viewer.amounts import exact_score, legible, score
from weigh.harness.web.viewer.conduct import Attempts, conduct_of, totals
from weigh.harness.web.viewer.frames import Frames, frames_of
from weigh.harness.web.viewer.seat_marks import COLOURS, marks
from weigh.harness.web.viewer.shared_trees import share
from weigh.harness.words import duration
from weigh.policies.show import one_line

_NAME = 200
"""Characters of a name or a value on the page."""

_FINDINGS = 5
"""Lines about what does not re-derive."""


def episode_data(
    record: Record,
    attempts: Attempts | None = None,
    *,
    run: str | None = None,
    versions: Mapping[str, str] | None = None,
    frames: Frames | None = None,
) -> dict[str, Json]:
    """What the page holds of an episode.

    `attempts` and `versions` come from the run, where there is one, and `run` is what it is called. `frames` are those
    of the record, where somebody has them. Raises like `harness.web.viewer.frames.frames_of`.
    """
    shown = frames or frames_of(record)
    pictures = share([frame.beat.picture for frame in shown.frames])
    return {
        "key": one_line(record.key, _NAME),
        "game": record.game,
        "title": shown.game.title,
        "facts": _facts(record, shown, attempts, run, versions),
        "warnings": _warnings(record),
        "seats": _seats(record, shown),
        "shared": list(pictures.shared),
        "beats": [
            [
                frame.step,
                frame.beat.kind,
                frame.beat.label,
                tree,
                list(frame.beat.feed),
                [[label, list(texts)] for label, texts in frame.beat.counts],
                frame.beat.banner,
                [[seat, flag] for seat, flag in frame.beat.flags],
            ]
            for frame, tree in zip(shown.frames, pictures.trees, strict=True)
        ],
        "steps": conduct_of(record, attempts, shown.said),
        "calls": attempts is not None,
    }


def _seats(record: Record, shown: Frames) -> list[Json]:
    """By seat. Scores are those that the rules settle, not those that the record claims."""
    own = marks(shown.names)
    exact = shown.scores or (None,) * len(own)
    return [
        {
            "mark": own[seat],
            "colour": seat % COLOURS,
            "alias": one_line(record.aliases[seat], _NAME),
            "entrant": one_line(record.entrants[seat], _NAME),
            "model": None if (model := record.models[seat]) is None else one_line(model, _NAME),
            "score": None if (value := exact[seat]) is None else score(value),
            "exact": None if value is None else exact_score(value),
            "value": None if value is None else float(value),
            "fallbacks": record.fallbacks[seat],
        }
        for seat in range(len(own))
    ]


def _facts(
    record: Record,
    shown: Frames,
    attempts: Attempts | None,
    run: str | None,
    versions: Mapping[str, str] | None,
) -> list[Json]:
    block, _, rotation = record.key.rpartition("/")
    by = [decision.by for decision in record.decisions]
    faults = sum(len(decision.faults) for decision in record.decisions)
    facts: list[tuple[str, str | None]] = [
        ("ended", f"{record.ending} ({record.reason})"),
        ("steps", str(len(record.moves))),
        ("config", ", ".join(f"{key} {_value(value)}" for key, value in record.config.items())),
        ("block", record.block),
        ("rotation", rotation if block == record.block else None),
        ("moves", ", ".join(f"{by.count(kind)} by {_BY[kind]}" for kind in _BY if kind in by)),
        ("faults", str(faults)),
        ("calls", totals(attempts) if attempts is not None else "not in a record; open it from its run to see them"),
        (
            "played",
            None if record.times is None else f"{record.times.started[:19]} UTC, {_seconds(record.times.seconds)}",
        ),
        ("run", run),
        ("versions", ", ".join(f"{name} {number}" for name, number in (versions or {}).items()) or None),
        ("record format", str(record.schema_version)),
    ]
    return [[label, one_line(value, 1_000)] for label, value in facts if value]


_BY = {
    "model": "the model",
    "retry": "a retry",
    "fallback": "the fallback",
    "scripted": "a script",
    "human": "a person",
}


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 3600 else duration(seconds)


def _value(value: Json) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return legible(str(value))


def _warnings(record: Record) -> list[Json]:
    """What in the record does not follow from its moves. Pictures always do."""
    found: Sequence[object] = verify_record(record)
    lines: list[Json] = [one_line(str(finding), 600) for finding in found[:_FINDINGS]]
    if len(found) > _FINDINGS:
        lines.append(f"and {len(found) - _FINDINGS} more: see weigh verify")
    return lines
