"""A plan as sections: what a ladder costs and can show in one table, then a few labelled lines; the rest under --wide.

Owns the words for people; the JSON form is `LadderPlan.to_json`.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from math import sqrt
from typing import TypeVar

from weigh.harness.planning.estimates import CHARACTERS_PER_TOKEN, Estimate, Span
from weigh.harness.planning.limits import Bound, Check, Verdict
from weigh.harness.planning.plan import EntrantPlan, Existing, GamePlan, LadderPlan
from weigh.harness.planning.power_table import PowerTable, Row
from weigh.harness.report.render.document import (
    NOTHING,
    Block,
    Column,
    Field,
    Section,
    Table,
    Text,
    bullets,
    cells,
    labelled,
    line,
    table_of,
)
from weigh.harness.stats.power import Test
from weigh.harness.words import count, duration, money, plural, share

T = TypeVar("T")

FAR = 10
"""Times as many blocks as are planned, from which a difference is out of reach of a plan."""

_BOUNDS = {
    "longest_episode": "the longest episode's rounds, one after the other",
    "episodes_in_flight": "the rounds of all episodes over episodes_in_flight",
    "slots": "calls over concurrency",
    "requests_per_minute": "requests_per_minute",
    "tokens_per_minute": "tokens_per_minute, each call counted with its whole cap",
}
_FROM = {
    "policy": "measured, same policy",
    "entrant": "measured, same entrant and model",
    "game": "measured, same model and game",
    "model": "measured, same model",
    "given": "given",
    None: "assumed",
}
_STOPS: Mapping[Verdict, str] = {
    "stops": "will stop the run before its end",
    "likely": "will probably stop the run before its end",
    "may": "may stop the run before its end",
    "unknown": "cannot be kept: a price is not known",
}


def plan_sections(plan: LadderPlan, wide: bool = False) -> list[Section]:
    """The whole plan of a ladder. `wide`: with everything it rests on."""
    opening: list[Block] = [Text(line(_answer(plan))), *(Text(line(text)) for text in _warnings(plan.existing))]
    made = [Section("", blocks=tuple(opening)), Section("", blocks=(_summary(plan),))]
    made.append(Section("", blocks=(labelled(_labelled(plan, wide)),)))
    if wide:
        made += [part for game in plan.games for part in _game_sections(game)]
        if plan.models:
            made.append(_money_section(plan))
            made.append(Section("Least time", blocks=(bullets(map(_bound, plan.bounds)),)))
    made.append(Section("", blocks=(bullets([f"Next: {_next(plan)}"]),)))
    return made


def _next(plan: LadderPlan) -> str:
    config = shlex.quote(plan.config)
    if any(game.left_episodes for game in plan.games):
        return f"weigh doctor {config}, then weigh ladder {config}"
    return f"weigh rank {shlex.quote(plan.folder)}"


def _answer(plan: LadderPlan) -> str:
    episodes = sum(game.report.episodes for game in plan.games)
    there = plan.existing
    if there is None or there.differs:
        state = f"nothing played yet -> {plan.folder}"
    else:
        state = (
            f"{len(there.finished)} of {episodes} played in {there.folder}; calls, cost and time are of what is left"
        )
    return f"{plan.config}   {plural(len(plan.games), 'game')}, {plural(episodes, 'episode')}, {state}"


def _warnings(there: Existing | None) -> Iterator[str]:
    if there is None:
        return
    if there.differs:
        yield (
            f"warning   {there.folder} holds a run made under another config: `weigh ladder` will refuse to go on with "
            f"it, and this is the plan of a new one ({there.differs[0]})"
        )
        if there.extension:
            yield (
                f"          `weigh ladder --extend` would keep it and go on ({'; '.join(there.extension)}); "
                "`weigh plan --extend` plans that"
            )
    elif there.extension:
        yield f"--extend adds to it: {'; '.join(there.extension)}"


def _summary(plan: LadderPlan) -> Table:
    """A row a game."""
    paid: list[Field[GamePlan]] = [
        (Column("model calls"), lambda game: _range(game.left.calls, _whole)),
        (Column("cost"), lambda game: _paid(game.left)),
    ]
    shows: list[Field[GamePlan]] = _shows(plan.games[0].power.test if plan.games else Test(), _power_of)
    fields: list[Field[GamePlan]] = [
        (Column("game", numeric=False, name=True), lambda game: game.game),
        (Column("blocks"), lambda game: str(game.report.blocks)),
        (Column("episodes"), lambda game: str(game.report.episodes)),
        *(paid if plan.models else []),
        *shows,
    ]
    table = table_of("", plan.games, fields)
    if len(plan.games) < 2:
        return table
    sums = [_range(plan.left.calls, _whole), _paid(plan.left)] if plan.models else []
    total = ["total", "", str(sum(game.report.episodes for game in plan.games)), *sums, "", ""]
    return replace(table, rows=(*table.rows, *cells([total])))


def _power_of(game: GamePlan) -> PowerTable:
    return game.power


def _table_of(each: tuple[str, PowerTable]) -> PowerTable:
    return each[1]


def _shows(test: Test, power: Callable[[T], PowerTable]) -> list[Field[T]]:
    """What blocks show: the minimum detectable difference, and the blocks that the one asked for needs."""
    return [
        (Column("detects"), lambda each: _two(power(each).detects)),
        (Column(f"for {test.difference:g}"), lambda each: _blocks(power(each).needed)),
    ]


def _explained(test: Test) -> Iterator[tuple[str, str]]:
    """Those two columns in words."""
    yield "detects", f"smallest true difference between two entrants found with {test.power:.0%} power"
    yield f"for {test.difference:g}", f"blocks that find a difference of {test.difference:g} (--difference)"


def _paid(sums: Estimate, form: Callable[[Span, Callable[[float], str]], str] | None = None) -> str:
    return "unknown" if sums.unpriced else (form or _range)(sums.cost, _dollars)


def _labelled(plan: LadderPlan, wide: bool) -> Iterator[tuple[str, str]]:
    if plan.games:
        yield from _explained(plan.games[0].power.test)
    yield "reach", _out_of_reach(plan)
    left = any(game.left_episodes for game in plan.games)
    if plan.models and left:
        yield "calls", _calls(plan)
        yield "cost", _cost(plan)
        yield "time", _time(plan)
    elif not plan.models:
        yield "calls", "none: no model plays, and nothing is paid"
    checks = [check for check in plan.limits if check.verdict != "holds"]
    yield from (("limits", limit_line(check)) for check in checks)
    if plan.models and left and not plan.limits:
        yield "limits", "none set in [limits]: nothing would stop this run"
    elif plan.models and left and not checks:
        yield "limits", f"none of {len(plan.limits)} in [limits] stops the run"
    yield "basis", _basis(plan)
    yield "played", _played(plan)
    if not wide and plan.games:
        yield "more", "--wide: more blocks, entrants, the schedule's balance, bounds of the time"


def _calls(plan: LadderPlan) -> str:
    expected = plan.left.calls.expected or 0.0
    # What the pilots do not tell of a game is the same for all its entrants.
    errors = [
        game.length.error * sum(each.left.episodes * (1 + each.rates.retry_share) for each in game.entrants)
        for game in plan.games
        if game.length is not None and game.length.error and not any(e.rates.decisions_from for e in game.entrants)
    ]
    error = sqrt(sum(each * each for each in errors))
    around = f" (standard error {error:,.0f})" if error >= 0.5 else ""
    shares = sorted({rates.retry_share for rates in plan.rates})
    again = "no second attempts" if not shares or not shares[-1] else f"second attempts at up to {share(shares[-1])}"
    return f"{expected:,.0f} expected{around} with {again}; the rules allow the range"


def _cost(plan: LadderPlan) -> str:
    left = plan.left
    if left.unpriced:
        return f"unknown, not 0: no price for {', '.join(left.unpriced)} (set one in [models])"
    if left.cost.most == 0:
        return "none: nobody charges for these models"
    if left.cost.expected is not None:
        return f"{_dollars(left.cost.expected)} expected"
    few = [plan.lengths[0], plan.lengths[-1]] if len(plan.lengths) > 1 else plan.lengths
    costs = ", ".join(f"{_dollars(left.cost_at(n))} at {n}{' (your cap)' if n == plan.caps[0] else ''}" for n in few)
    return f"{costs} tokens an answer (--output-tokens, --from RUN)"


def _time(plan: LadderPlan) -> str:
    seconds = sorted({rates.latency_seconds for rates in plan.rates})
    latency = f"{seconds[0]:.3g}" if len(seconds) == 1 else f"{seconds[0]:.3g} to {seconds[-1]:.3g}"
    origin = ", ".join(dict.fromkeys(_FROM[rates.latency_from] for rates in plan.rates))
    least = f"at least {time_words(plan.seconds)} at {latency} s a call ({origin})"
    return f"{least}; bound by {plan.bounds[0].kind}" if plan.bounds else least


def _basis(plan: LadderPlan) -> str:
    sources = {game.power.spread.source for game in plan.games if game.power.spread is not None}
    if "scripted" not in sources:
        return f"measured in {plan.source}" if sources else ""
    return "spread from scripted policies; plan again after 10 blocks are played" if plan.models else ""


def _played(plan: LadderPlan) -> str:
    """Planned against played, over all games that an earlier run holds."""
    decided = attempts = least = most = 0
    planned = 0.0
    for game in plan.games:
        for entrant in game.entrants:
            if entrant.played is not None and game.length is not None:
                decided += entrant.played.decided
                attempts += entrant.played.attempts
                planned += game.length.expected * entrant.played.seats
                least += game.length.fewest * entrant.played.seats
                most += 2 * game.length.most * entrant.played.seats
    if not decided:
        return ""
    return (
        f"{decided:,} decisions in {plan.source} (planned {planned:,.0f}), "
        f"{attempts:,} attempts (planned {least:,} to {most:,})"
    )


def limit_line(check: Check) -> str:
    """A limit that does not hold, against what is needed."""
    needed = [f"at least {_figure(check.needed.least)}"]
    if check.needed.expected is not None and check.verdict != "stops":
        needed.append(f"about {_figure(check.needed.expected)}")
    if check.verdict == "may":
        needed.append(f"at most {_figure(check.needed.most)}")
    spent = f", {_figure(check.spent)} spent before" if check.spent else ""
    why = f" (needed: {', '.join(needed)}{spent})" if check.verdict != "unknown" else ""
    return f"{check.limit} = {_figure(check.value)} {_STOPS[check.verdict]}{why}"


def _out_of_reach(plan: LadderPlan) -> str:
    """The games whose differences are too small to be found with the blocks of this plan."""
    far = [
        f"{game.game} below {game.power.detects:.2f}" if game.power.detects else f"{game.game} of any size"
        for game in plan.games
        if game.power.spread is not None and (game.power.needed is None or game.power.needed > FAR * game.power.blocks)
    ]
    dark = [f"{game.game} (its spread is not known)" for game in plan.games if game.power.spread is None]
    return f"with these blocks no differences of {', '.join([*far, *dark])}" if far or dark else ""


def _game_sections(game: GamePlan) -> Iterator[Section]:
    """What --wide has of a game."""
    first, *more = game.report.lines()
    facts = [text.strip() for text in more]
    if game.left_episodes < game.report.episodes:
        facts.append(f"left: {plural(game.left_episodes, 'episode')} in {plural(game.left_blocks, 'block')}")
    length = game.length
    if length is not None:
        exact = length.fewest == length.most
        error = "" if length.error is None or exact else f" (standard error {length.error:.2f})"
        facts.append(
            f"decisions of a seat in an episode: {length.expected:.1f}{error} in "
            f"{plural(game.pilots, 'pilot episode')}, {length.fewest} to {length.most} by the rules"
        )
    yield Section(first, blocks=(bullets(facts), *_entrants(game), *_power(game.power)))


def _entrants(game: GamePlan) -> Iterator[Table]:
    prompted = [each for each in game.entrants if each.sizes is not None]
    played: Field[EntrantPlan] = (
        Column("played"),
        lambda each: NOTHING if each.played is None else str(each.played.decided),
    )
    fields: list[Field[EntrantPlan]] = [
        (Column("entrant", numeric=False, name=True), lambda each: each.name),
        (Column("decisions"), lambda each: count(round(each.left.decisions))),
        (Column("calls"), lambda each: _expected(each.left.calls, _whole)),
        (Column("tokens in", goes=2), lambda each: _expected(each.left.input_tokens, _count)),
        (Column("tokens out", goes=1), lambda each: _expected(each.left.output_tokens, _count)),
        (Column("cost"), lambda each: _paid(each.left, _expected)),
        *([played] if any(each.played for each in prompted) else []),
    ]
    if prompted:
        yield table_of("", prompted, fields)


def _power(power: PowerTable) -> Iterator[Block]:
    spread = power.spread
    known = "not known"
    if spread is not None:
        alike = f"; {plural(spread.alike, 'pair')} without any left out" if spread.alike else ""
        known = f"{spread.typical:.2f} ({spread.low:.2f} to {spread.high:.2f} by pair{alike})"
    yield Text(line(f"block SD of a difference: {known}, {power.reason}"))
    fields: list[Field[Row]] = [
        (Column("blocks"), lambda row: f"{row.blocks}{'*' if row.blocks == power.blocks else ''}"),
        (Column("detects"), lambda row: NOTHING if row.detects is None else f"{row.detects:.3f}"),
        (Column("episodes"), lambda row: str(row.episodes)),
        (Column("calls"), lambda row: _expected(row.calls, _whole)),
        (Column("cost"), lambda row: "unknown" if row.cost is None else _expected(row.cost, _dollars)),
    ]
    yield table_of("", power.rows, fields)


def _money_section(plan: LadderPlan) -> Section:
    def part(form: Callable[[Span], float | None]) -> Callable[[tuple[str, Estimate]], str]:
        def cell(each: tuple[str, Estimate]) -> str:
            found = form(each[1].cost)
            return "unknown" if each[1].unpriced else NOTHING if found is None else _dollars(found)

        return cell

    fields: list[Field[tuple[str, Estimate]]] = [
        (Column("model", numeric=False, name=True), lambda each: each[0]),
        (Column("calls"), lambda each: _range(each[1].calls, _whole)),
        (Column("least"), part(lambda cost: cost.least)),
        (Column("expected"), part(lambda cost: cost.expected)),
        (Column("most"), part(lambda cost: cost.most)),
    ]
    ratios = sorted({rates.characters_per_token for rates in plan.rates}) or [CHARACTERS_PER_TOKEN]
    measured = all(rates.characters_per_token_from is not None for rates in plan.rates)
    origin = f"measured in {plan.source}" if measured else "assumed; --from RUN measures it"
    facts = [f"{ratios[0]:.2f} to {ratios[-1]:.2f} characters a token ({origin}); no discount for cached prompts"]
    if plan.lengths and not plan.left.unpriced:
        costs = (f"{_dollars(plan.left.cost_at(n))} at {n}" for n in plan.lengths)
        facts.append(f"cost by tokens of an answer: {', '.join(costs)}")
    return Section("Cost by model", blocks=(table_of("", plan.models.items(), fields), bullets(facts)))


def _bound(bound: Bound) -> str:
    whose = "" if bound.model is None else f"{bound.model}, "
    return f"{time_words(bound.seconds)}: {whose}{_BOUNDS[bound.kind]}"


def run_sections(run: str, tables: Mapping[str, PowerTable], wide: bool = False) -> list[Section]:
    """What the blocks of a run could show; `wide`: what other numbers of blocks could, too."""
    if not tables:
        return [Section("", blocks=(Text(line(f"{run}   no finished episode, so its blocks show nothing")),))]
    test = next(iter(tables.values())).test
    fields: list[Field[tuple[str, PowerTable]]] = [
        (Column("game", numeric=False, name=True), lambda each: each[0]),
        (Column("blocks"), lambda each: str(each[1].blocks)),
        *_shows(test, _table_of),
        (Column("more blocks"), lambda each: _blocks(each[1].more)),
    ]
    made = [
        Section("", blocks=(Text(line(f"{run}   what its blocks could show")),)),
        Section("", blocks=(table_of("", tables.items(), fields),)),
        Section("", blocks=(labelled(_explained(test)),)),
    ]
    return [*made, *(Section(game, blocks=tuple(_power(table))) for game, table in tables.items() if wide)]


def time_words(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 60 else duration(seconds)


def _dollars(value: float) -> str:
    return f"${value:.2f}" if value >= 0.1 else money(value)


def _blocks(number: int | None) -> str:
    return NOTHING if number is None else str(number)


def _count(value: float) -> str:
    return count(round(value))


def _two(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2f}"


def _whole(value: float) -> str:
    return f"{value:,.0f}"


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or float(value).is_integer() else f"{value:.3g}"


def _expected(span: Span, form: Callable[[float], str]) -> str:
    return form(span.expected) if span.expected is not None else _range(span, form)


def _range(span: Span, form: Callable[[float], str]) -> str:
    low, high = form(span.least), form(span.most)
    return low if low == high else f"{low}-{high}"
