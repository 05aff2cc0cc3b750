"""How entrants played, and what it took: faults, cost, latency, measures, and episodes to look at.

Owns these sections of a report.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from weigh.harness.audit.measures.registry import Measured, diagnostics_of
from weigh.harness.report.contents import Notable
from weigh.harness.report.render.charts import axis, bar, scale, spread, stack
from weigh.harness.report.render.document import (
    NOTHING,
    Bullets,
    Cell,
    Code,
    Column,
    Field,
    Line,
    Link,
    Section,
    Span,
    Table,
    Text,
    Word,
    line,
    table_of,
)
from weigh.harness.results.ranking.standings import GameLadder, Reliability, Standing
from weigh.harness.store.usage import Latency, Usage
from weigh.harness.words import count, money, plural, score, share, tokens

WAYS: tuple[tuple[str, Callable[[Reliability], int]], ...] = (
    ("own, first attempt", lambda reliability: reliability.by_model + reliability.by_scripted + reliability.by_human),
    ("own, second attempt", lambda reliability: reliability.by_retry),
    ("fallback", lambda reliability: reliability.by_fallback),
)
SIDE_BY_SIDE = 7
"""Entrants of one table of measures."""

ENTRANT: Field[Standing] = (Column("entrant", numeric=False), lambda each: each.entrant)


def _quiet(text: str) -> Text:
    return Text(line(text), "quiet")


def conduct_section(game: GameLadder, anchor: str) -> Section:
    """How moves came about, and why attempts failed. Scripted entrants are omitted: no attempt of theirs can fail."""
    asked = [each for each in game.standings if each.reliability.decisions and not each.scripted]
    if not asked:
        return Section("Reliability", anchor, (_quiet("No model made a decision, so no attempt could fail."),))
    causes = [
        cause for cause in asked[0].reliability.faults if any(each.reliability.faults.get(cause) for each in asked)
    ]
    why = _causes(game.game, asked, causes) if causes else _quiet("Every attempt gave a legal move.")
    return Section("Reliability", anchor, (_ways(game.game, asked), why))


def _ways(game: str, asked: Sequence[Standing]) -> Table:
    shown = scale([0, 100])

    def part(each: Standing, way: Callable[[Reliability], int]) -> float:
        return way(each.reliability) / each.reliability.decisions

    def drawing(each: Standing) -> Cell:
        told = [f"{name}: {share(part(each, way))}" for name, way in WAYS]
        pieces = [(n, 100 * part(each, way), told[n]) for n, (_, way) in enumerate(WAYS)]
        return Cell("", stack(shown, f"{each.entrant}: {', '.join(told)}", pieces))

    fields: list[Field[Standing]] = [
        ENTRANT,
        (Column("share of decisions", numeric=False, drawn=True, axis=axis(shown, "%")), drawing),
        *(
            (Column(name, key=f"series-{n}"), lambda each, way=way: share(part(each, way)))
            for n, (name, way) in enumerate(WAYS)
        ),
        (Column("decisions", spare=True), lambda each: str(each.reliability.decisions)),
    ]
    return table_of(f"{game}: how moves came about", asked, fields)


def _causes(game: str, asked: Sequence[Standing], causes: Sequence[str]) -> Table:
    def per_hundred(each: Standing, cause: str) -> float:
        return 100 * each.reliability.faults.get(cause, 0) / each.reliability.decisions

    shown = scale(sum(per_hundred(each, cause) for cause in causes) for each in asked)

    def drawing(each: Standing) -> Cell:
        told = [f"{cause}: {each.reliability.faults.get(cause, 0)}" for cause in causes]
        pieces = [(n, per_hundred(each, cause), told[n]) for n, cause in enumerate(causes)]
        return Cell("", stack(shown, f"{each.entrant}: faults: {', '.join(told)}", pieces))

    fields: list[Field[Standing]] = [
        ENTRANT,
        (Column("faults in 100 decisions", numeric=False, drawn=True, axis=axis(shown)), drawing),
        *(
            (
                Column(cause.replace("_", " "), key=f"series-{n}"),
                lambda each, cause=cause: str(each.reliability.faults.get(cause, 0)),
            )
            for n, cause in enumerate(causes)
        ),
    ]
    return table_of(f"{game}: attempts without a legal move, by cause", asked, fields)


def cost_section(game: GameLadder, anchor: str) -> Section:
    """What finished episodes cost."""
    paying = [each for each in game.standings if each.spend.calls]
    if not paying:
        reused = any(each.traffic is not None and each.traffic.reused_calls for each in game.standings)
        why = "Every answer was taken from an earlier run." if reused else "No model was asked, so nothing was spent."
        return Section("Cost", anchor, (_quiet(why),))
    costs = [each.spend.cost_per_episode_usd for each in paying]
    shown = scale(costs)

    def drawing(each: Standing) -> Cell:
        cost = each.spend.cost_per_episode_usd
        return Cell("", None if cost is None else bar(shown, f"{each.entrant}: {money(cost)} an episode", cost))

    drawn: Field[Standing] = (
        Column("US dollars an episode", numeric=False, drawn=True, axis=axis(shown)),
        drawing,
    )
    fields: list[Field[Standing]] = [
        ENTRANT,
        *([drawn] if any(costs) else []),
        (Column("$/episode"), lambda each: _dollars(each.spend.cost_per_episode_usd)),
        (Column("cost"), lambda each: money(each.spend.cost_known_usd, each.spend.cost_unknown_episodes)),
        (Column("calls", spare=True), lambda each: count(each.spend.calls)),
        *(
            (
                Column(title, spare=True),
                lambda each, name=name: tokens(getattr(each.spend, name), each.spend.unknown_usage_calls),
            )
            for title, name in (
                ("tokens in", "input_tokens"),
                ("cached", "cached_tokens"),
                ("tokens out", "output_tokens"),
                ("reasoning", "reasoning_tokens"),
            )
        ),
    ]
    best = ", ".join(game.cost_frontier)
    frontier = f" Cost frontier, not beaten on both mean and dollars an episode: {best}." if best else ""
    table = table_of(f"{game.game}: cost and tokens", paying, fields)
    return Section("Cost", anchor, (table, _quiet(f"Of finished episodes.{frontier}")))


def _dollars(cost: float | None) -> str:
    return "unknown" if cost is None else money(cost)


def latency_section(game: GameLadder, anchor: str) -> Section:
    """How long answers took."""
    known = [
        (each.entrant, each.traffic, each.traffic.latency)
        for each in game.standings
        if each.traffic is not None and each.traffic.latency.p50 is not None
    ]
    if not known:
        return Section("Latency", anchor, (_quiet("No call was answered, so no latency is known."),))
    shown = scale(value for *_, found in known for value in (found.p50, found.p95, found.max))

    def drawing(each: tuple[str, Usage, Latency]) -> Cell:
        entrant, _, found = each
        if found.p50 is None or found.p95 is None:
            return Cell("")
        told = f"median {_seconds(found.p50)}, 95th percentile {_seconds(found.p95)}, most {_seconds(found.max)}"
        return Cell("", spread(shown, f"{entrant}: {told}", found.p50, found.p95, found.max))

    fields: list[Field[tuple[str, Usage, Latency]]] = [
        (Column("entrant", numeric=False), lambda each: each[0]),
        (Column("seconds", numeric=False, drawn=True, axis=axis(shown, " s")), drawing),
        (Column("p50"), lambda each: _seconds(each[2].p50)),
        (Column("p95"), lambda each: _seconds(each[2].p95)),
        (Column("most"), lambda each: _seconds(each[2].max)),
        (Column("mean", spare=True), lambda each: _seconds(each[2].mean)),
        (Column("answers", spare=True), lambda each: count(each[1].answered)),
    ]
    said = "Dot: median; bar to the 95th percentile; thin line to the slowest. Of answered calls, queues left out."
    return Section("Latency", anchor, (table_of(f"{game.game}: seconds to an answer", known, fields), _quiet(said)))


def _seconds(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2f} s"


def measure_section(game: str, measured: Measured | None, order: Sequence[str], anchor: str) -> Section:
    """The game's own measures: a row for each, and a column for each entrant, of which some stand side by side."""
    if not measured:
        return Section("Behaviour metrics", anchor, (_quiet("This game has no finished episode to measure."),))
    names = [name for name in order if name in measured] + [name for name in measured if name not in order]
    meanings = diagnostics_of(game).meanings
    shown = [each for each in meanings if any(measured[name].get(each) is not None for name in names)]
    parts = (names[start : start + SIDE_BY_SIDE] for start in range(0, len(names), SIDE_BY_SIDE))
    return Section("Behaviour metrics", anchor, tuple(_by_measure(game, measured, p, shown, meanings) for p in parts))


def _by_measure(
    game: str, measured: Measured, names: Sequence[str], shown: Sequence[str], meanings: Mapping[str, str]
) -> Table:
    columns = (Column("measure", numeric=False), *(Column(name) for name in names))
    rows = tuple(
        (Cell(each, below=meanings[each]), *(Cell(_number(measured[name].get(each))) for name in names))
        for each in shown
    )
    return Table(f"{game}: measures", columns, rows, meanings=True)


def _number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.3f}"


@dataclass(frozen=True, slots=True)
class Ways:
    """How a reader gets to an episode."""

    runs: Mapping[str, str]
    """Folders by run id."""
    replays: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Addresses of pages by run id and episode."""

    def to(self, each: Notable) -> Span:
        address = self.replays.get((each.run, each.episode))
        if address is not None:
            step = "" if each.step is None else f"#step={each.step}"
            return Link(f"replay of {each.episode}", address + step)
        folder = shlex.quote(self.runs.get(each.run, each.run))
        return Code(f"weigh view {folder} --episode {shlex.quote(each.episode)}")


def notable_section(found: Sequence[Notable], ways: Ways, anchor: str) -> Section:
    """Episodes to look at, with everybody's scores."""
    items = tuple(
        line(*told, Word(f" ({scores})", "quiet"))
        for each, told in zip(found, notable_lines(found, ways), strict=True)
        for scores in [", ".join(f"{name} {score(at)}" for name, at in zip(each.entrants, each.scores, strict=True))]
    )
    return Section("Worth a look", anchor, (Bullets(items),) if items else ())


def notable_lines(found: Sequence[Notable], ways: Ways) -> tuple[Line, ...]:
    """A line for each: what happened, and the way to it."""
    return tuple(line(Word(_title(each), "strong"), f": {_about(each)} ", ways.to(each)) for each in found)


def _title(each: Notable) -> str:
    return {"upset": "Biggest upset", "closest": "Closest", "overbid": "Largest overbid", "faults": "Most faults"}[
        each.why
    ]


def _about(each: Notable) -> str:
    match each.why:
        case "upset":
            return f"{each.who[0]} beat {each.who[1]}, ranked {plural(int(each.size), 'place')} higher."
        case "closest":
            apart = "level" if each.size < 5e-4 else f"{each.size:.3f} apart"
            return f"{each.who[0]} and {each.who[1]} ended {apart}."
        case "overbid":
            return f"{each.who[0]} bid {int(each.size)} more than the next in round {(each.step or 0) + 1}."
        case "faults":
            return f"{plural(int(each.size), 'attempt')} without a legal move ({', '.join(each.who)})."
