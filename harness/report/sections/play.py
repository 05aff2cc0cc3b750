"""How entrants played, and what it took: faults, cost, latency, measures, and episodes to look at.

Owns these sections of a report.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from weigh.harness.audit.measures.registry import Measured, diagnostics_of
from weigh.harness.report.contents import Notable
from weigh.harness.report.render.charts import axis, bar, scale, spread, stack
from weigh.harness.report.render.document import (
    NOTHING,
    Block,
    Bullets,
    Cell,
    Code,
    Column,
    Line,
    Link,
    Section,
    Span,
    Table,
    Text,
    Word,
    line,
)
from weigh.harness.results.ranking.standings import Conduct, GameLadder, Spend, Standing
from weigh.harness.words import count, money, plural, score, share, tokens

WAYS = ("own, first attempt", "own, second attempt", "fallback")
SIDE_BY_SIDE = 7
"""Entrants up to which measures are rows with their meaning; of more, entrants are."""

AT_ONCE = 8
"""Measures in one table where entrants are the rows."""


def conduct_section(game: GameLadder, anchor: str) -> Section:
    """How moves came about, and why attempts failed."""
    played = [each for each in game.standings if each.conduct.decisions]
    asked = [each for each in played if not each.scripted]
    if not asked:
        why = "All entrants are scripted: no attempt can fail." if played else "No decision was made yet."
        return Section("Faults and fallbacks", anchor, (Text(line(why), "quiet"),))
    blocks: list[Block] = [_ways(game.game, asked)]
    causes = [cause for cause in asked[0].conduct.faults if any(each.conduct.faults.get(cause) for each in asked)]
    if causes:
        blocks.append(_causes(game.game, asked, causes))
    else:
        blocks.append(Text(line("Every attempt gave a legal move."), "quiet"))
    if len(asked) < len(played):
        blocks.append(
            Text(
                line(f"{plural(len(played) - len(asked), 'scripted entrant')} cannot fail and stand in no row."),
                "quiet",
            )
        )
    return Section("Faults and fallbacks", anchor, tuple(blocks))


def _ways(game: str, asked: Sequence[Standing]) -> Table:
    shown = scale([0, 100])
    columns = (
        Column("entrant", numeric=False),
        Column("share of decisions", numeric=False, drawn=True, axis=axis(shown, "%")),
        *(Column(way, key=f"series-{n}") for n, way in enumerate(WAYS)),
        Column("decisions", spare=True),
    )
    rows = []
    for each in asked:
        shares = _shares(each.conduct)
        said = ", ".join(f"{way} {share(part)}" for way, part in zip(WAYS, shares, strict=True))
        pieces = [
            (n, 100 * part, f"{way}: {share(part)}") for n, (way, part) in enumerate(zip(WAYS, shares, strict=True))
        ]
        rows.append(
            (
                Cell(each.entrant),
                Cell("", stack(shown, f"{each.entrant}: {said}", pieces)),
                *(Cell(share(part)) for part in shares),
                Cell(str(each.conduct.decisions)),
            )
        )
    return Table(f"{game}: how moves came about", columns, tuple(rows))


def _shares(conduct: Conduct) -> tuple[float, float, float]:
    own = conduct.by_model + conduct.by_scripted + conduct.by_human
    return tuple(number / conduct.decisions for number in (own, conduct.by_retry, conduct.by_fallback))  # type: ignore[return-value]


def _causes(game: str, asked: Sequence[Standing], causes: Sequence[str]) -> Table:
    per_hundred = [
        [100 * each.conduct.faults.get(cause, 0) / each.conduct.decisions for cause in causes] for each in asked
    ]
    shown = scale(map(sum, per_hundred))
    columns = (
        Column("entrant", numeric=False),
        Column("faults in 100 decisions", numeric=False, drawn=True, axis=axis(shown)),
        *(Column(cause.replace("_", " "), key=f"series-{n}") for n, cause in enumerate(causes)),
    )
    rows = []
    for each, sizes in zip(asked, per_hundred, strict=True):
        counts = [each.conduct.faults.get(cause, 0) for cause in causes]
        said = ", ".join(f"{cause} {number}" for cause, number in zip(causes, counts, strict=True) if number) or "none"
        pieces = [(n, size, f"{causes[n]}: {counts[n]}") for n, size in enumerate(sizes)]
        rows.append(
            (
                Cell(each.entrant),
                Cell("", stack(shown, f"{each.entrant}: faults: {said}", pieces)),
                *(Cell(str(number)) for number in counts),
            )
        )
    return Table(f"{game}: attempts without a legal move, by cause", columns, tuple(rows))


def cost_section(game: GameLadder, anchor: str) -> Section:
    """What finished episodes cost."""
    paying = [each for each in game.standings if each.spend.calls]
    if not paying:
        reused = any(each.traffic is not None and each.traffic.reused_calls for each in game.standings)
        why = "Every answer was taken from an earlier run." if reused else "No model was asked, so nothing was spent."
        return Section("Cost", anchor, (Text(line(why), "quiet"),))
    costs = [each.spend.cost_per_episode_usd for each in paying]
    shown = scale(costs)
    charged = any(costs)
    columns = (
        Column("entrant", numeric=False),
        *([Column("US dollars an episode", numeric=False, drawn=True, axis=axis(shown))] if charged else []),
        Column("$/episode"),
        Column("cost"),
        Column("calls", spare=True),
        Column("tokens in", spare=True),
        Column("cached", spare=True),
        Column("tokens out", spare=True),
        Column("reasoning", spare=True),
    )
    rows = tuple(
        (
            Cell(each.entrant),
            *(
                [Cell("", None if cost is None else bar(shown, f"{each.entrant}: {money(cost)} an episode", cost))]
                if charged
                else []
            ),
            Cell("unknown" if cost is None else money(cost)),
            Cell(money(each.spend.cost_known_usd, each.spend.cost_unknown_episodes)),
            Cell(count(each.spend.calls)),
            *(Cell(_tokens(number, each.spend)) for number in _token_counts(each.spend)),
        )
        for each, cost in zip(paying, costs, strict=True)
    )
    best = ", ".join(game.cost_frontier)
    frontier = f" Cost frontier, not beaten on both mean and dollars an episode: {best}." if best else ""
    said = f"Of finished episodes.{frontier}"
    return Section("Cost", anchor, (Table(f"{game.game}: cost and tokens", columns, rows), Text(line(said), "quiet")))


def _token_counts(spend: Spend) -> tuple[int | None, ...]:
    return spend.input_tokens, spend.cached_tokens, spend.output_tokens, spend.reasoning_tokens


def _tokens(number: int | None, spend: Spend) -> str:
    return tokens(number, spend.unknown_usage_calls)


def latency_section(game: GameLadder, anchor: str) -> Section:
    """How long answers took."""
    asked = [(each, each.traffic.latency) for each in game.standings if each.traffic is not None]
    known = [(each, found) for each, found in asked if found.p50 is not None]
    if not known:
        return Section("Latency", anchor, (Text(line("No call was answered, so no latency is known."), "quiet"),))
    shown = scale(value for _, found in known for value in (found.p50, found.p95, found.max))
    columns = (
        Column("entrant", numeric=False),
        Column("seconds", numeric=False, drawn=True, axis=axis(shown, " s")),
        Column("p50"),
        Column("p95"),
        Column("most"),
        Column("mean", spare=True),
        Column("answers", spare=True),
    )
    rows = []
    for each, found in known:
        words = (
            f"{each.entrant}: median {_seconds(found.p50)}, 95th percentile {_seconds(found.p95)}, "
            f"most {_seconds(found.max)}"
        )
        drawing = (
            None if found.p50 is None or found.p95 is None else spread(shown, words, found.p50, found.p95, found.max)
        )
        answers = NOTHING if each.traffic is None else count(each.traffic.answered)
        rows.append(
            (
                Cell(each.entrant),
                Cell("", drawing),
                *(Cell(_seconds(value)) for value in (found.p50, found.p95, found.max, found.mean)),
                Cell(answers),
            )
        )
    said = "Dot: median; bar to the 95th percentile; thin line to the slowest. Of answered calls, queues left out."
    return Section(
        "Latency",
        anchor,
        (Table(f"{game.game}: seconds to an answer", columns, tuple(rows)), Text(line(said), "quiet")),
    )


def _seconds(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2f} s"


def measure_section(game: str, measured: Measured | None, order: Sequence[str], anchor: str) -> Section:
    """The game's own measures, by entrant."""
    title = "How they play"
    if not measured:
        return Section(title, anchor, (Text(line("This game has no finished episode to measure."), "quiet"),))
    names = [name for name in order if name in measured] + [name for name in measured if name not in order]
    meanings = diagnostics_of(game).meanings
    shown = [each for each in meanings if any(measured[name].get(each) is not None for name in names)]
    if len(names) <= SIDE_BY_SIDE:
        return Section(title, anchor, (_by_measure(game, measured, names, shown, meanings),))
    blocks: list[Block] = []
    for start in range(0, len(shown), AT_ONCE):
        part = shown[start : start + AT_ONCE]
        columns = (Column("entrant", numeric=False), *(Column(each) for each in part))
        rows = tuple((Cell(name), *(Cell(_number(measured[name].get(each))) for each in part)) for name in names)
        blocks.append(Table(f"{game}: measures", columns, rows, wide=True))
        blocks.append(Bullets(tuple(line(Word(each, "strong"), f": {meanings[each]}") for each in part)))
    return Section(title, anchor, tuple(blocks))


def _by_measure(
    game: str, measured: Measured, names: Sequence[str], shown: Sequence[str], meanings: Mapping[str, str]
) -> Table:
    """A row for each measure, with its meaning, and a column for each entrant."""
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
