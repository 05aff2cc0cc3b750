"""A plan as plain lines of at most 80 columns.

Owns the words and tables for people; the JSON form is `LadderPlan.to_json`. Names are other people's text and are
shown harmless.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from textwrap import wrap

from weigh.harness.planning.estimates import CHARACTERS_PER_TOKEN, Estimate, Span
from weigh.harness.planning.plan import EntrantPlan, GamePlan, LadderPlan, lengths
from weigh.harness.planning.sight import Sight
from weigh.harness.planning.wall import Bound
from weigh.harness.report.render.document import NOTHING
from weigh.harness.report.render.text import aligned
from weigh.harness.words import count, duration, money, plural, share, shown

WIDTH = 80
NAME = 24
"""Columns of an entrant's or a model's name; longer ones are cut."""

_BOUNDS = {
    "longest_episode": "the longest episode's rounds, one after the other",
    "episodes_in_flight": "the rounds of all episodes, over episodes_in_flight",
    "slots": "its calls over its concurrency",
    "requests_per_minute": "its requests_per_minute",
    "tokens_per_minute": "its tokens_per_minute, each call counted with its whole cap",
}
_TOLD = {
    "policy": "measured, same policy",
    "entrant": "measured, same entrant and model",
    "game": "measured, same model and game",
    "model": "measured, same model",
    "given": "given",
    None: "assumed",
}


def plan_lines(plan: LadderPlan) -> Iterator[str]:
    """The whole plan of a ladder."""
    yield from _opening(plan)
    for game in plan.games:
        yield ""
        yield from _game_lines(game)
    if plan.models:
        yield ""
        yield from _money_lines(plan)
        yield ""
        yield from _time_lines(plan)
    for ceiling in plan.ceilings:
        if ceiling.warns:
            yield from folded(f"WARNING: {ceiling.line()}")
    yield ""
    for note in notes(plan):
        yield from folded(note)


def folded(line: str) -> list[str]:
    """One line as lines of at most WIDTH columns."""
    indent = " " * (len(line) - len(line.lstrip()))
    return wrap(line, WIDTH, subsequent_indent=f"{indent}  ", break_on_hyphens=False) or [""]


def _opening(plan: LadderPlan) -> Iterator[str]:
    episodes = sum(game.report.episodes for game in plan.games)
    yield from folded(f"{shown(plan.config)}: {plural(episodes, 'episode')} of {plural(len(plan.games), 'game')}")
    there = plan.existing
    if there is None:
        yield from folded(f"nothing is played yet; the run will be kept in {shown(plan.folder)}")
    elif there.differs:
        yield from folded(
            f"WARNING: {shown(there.folder)} holds a run made under another config, and `weigh ladder` will refuse to "
            f"go on with it; this is the plan of a new one ({shown(there.differs[0])})"
        )
        if there.extension:
            more = shown("; ".join(there.extension), limit=500)
            yield from folded(
                f"`weigh ladder --extend` would keep it and go on with it ({more}); `weigh plan --extend` plans that"
            )
    else:
        if there.extension:
            yield from folded(f"--extend adds to it: {shown('; '.join(there.extension), limit=500)}")
        yield from folded(
            f"{len(there.finished)} of {episodes} played in {shown(there.folder)}; calls, tokens, money and time below "
            "are of what is left"
        )
        if there.paid:
            yield from folded(
                f"{plural(there.paid, 'answer')} of unfinished episodes are paid for and will not be asked again; they "
                "are not taken off below"
            )
    if not plan.models:
        yield "no model plays: no calls, no cost"


def _game_lines(game: GamePlan) -> Iterator[str]:
    for line in game.report.lines():
        yield from folded(line)
    if game.left_episodes < game.report.episodes:
        yield f"  left: {plural(game.left_episodes, 'episode')} in {plural(game.left_blocks, 'block')}"
    prompted = [entrant for entrant in game.entrants if entrant.sizes is not None]
    if prompted:
        rows = [_entrant_row(entrant) for entrant in prompted]
        yield from table(("entrant", "decisions", "calls", "tokens in", "tokens out", "cost"), rows)
        if not game.exact:
            fewest = min(entrant.sizes.fewest for entrant in prompted if entrant.sizes is not None)
            most = max(entrant.sizes.most for entrant in prompted if entrant.sizes is not None)
            yield from folded(
                f"  the number of decisions depends on play: {fewest} to {most} an episode in "
                f"{plural(game.pilots, 'pilot')}, at most {game.bound} by the rules"
            )
    yield from sight_lines(game.sight)


def _entrant_row(entrant: EntrantPlan) -> tuple[str, ...]:
    left = entrant.left
    return (
        shown(entrant.name, limit=NAME),
        count(round(left.decisions)),
        count(round(left.calls.expected or 0)),
        _span(left.input_tokens, _tokens),
        _span(left.output_tokens, _tokens),
        _cost(left),
    )


def sight_lines(sight: Sight) -> Iterator[str]:
    """What the blocks of one game can see."""
    test = sight.test
    asked = f"two-sided, alpha {test.alpha:g}, power {test.power:g}"
    yield from folded(f"  spread of a block's difference: {sight.reason}")
    if sight.spread is None:
        yield "  so nothing can be said of what its blocks can see"
    else:
        spread = sight.spread
        yield from folded(
            f"  {spread.typical:.3f} between two entrants ({spread.low:.3f} to {spread.high:.3f} by pair)"
            + (f"; {plural(spread.alike, 'pair')} without any left out" if spread.alike else "")
        )
        if sight.needed is None:
            yield from folded(f"  a difference of {test.difference:g} needs more blocks than anybody plays ({asked})")
        else:
            more = max(0, sight.needed - sight.blocks)
            enough = f"{plural(more, 'block')} more" if more else "there are enough"
            yield from folded(
                f"  a difference of {test.difference:g} needs {plural(sight.needed, 'block')}: {enough} ({asked})"
            )
    rows = [
        (
            f"{row.blocks}{'*' if row.blocks == sight.blocks else ''}",
            NOTHING if row.detects is None else f"{row.detects:.3f}",
            str(row.episodes),
            _span(row.price.calls, lambda value: count(round(value))),
            "unknown" if row.price.cost is None else _span(row.price.cost, money),
        )
        for row in sight.rows
    ]
    yield from table(("blocks", "detects", "episodes", "calls", "cost"), rows)


def _money_lines(plan: LadderPlan) -> Iterator[str]:
    rows = [(shown(model, limit=NAME + 8), *_money_row(sums)) for model, sums in plan.models.items()]
    if len(rows) > 1:
        rows.append(("in all", *_money_row(plan.left)))
    yield "in all, from the least to the most"
    yield from table(("model", "calls", "least", "expected", "most"), rows)
    if plan.left.output_tokens.expected is None:
        yield from folded(
            "  how long answers will be is not known, reasoning included: --from RUN measures it, --output-tokens N "
            "assumes it"
        )
    points = lengths(plan)
    if points:
        costs = ("unknown" if plan.left.unpriced else money(plan.left.cost_at(tokens)) for tokens in points)
        told = ", ".join(f"{cost} at {n}" for n, cost in zip(points, costs, strict=True))
        yield from folded(f"  if every answer takes so many tokens: {told}")


def _money_row(sums: Estimate) -> tuple[str, ...]:
    calls = f"{count(round(sums.calls.least))}-{count(round(sums.calls.most))}"
    if sums.unpriced:
        return calls, "unknown", "unknown", "unknown"
    cost = sums.cost
    return calls, money(cost.least), NOTHING if cost.expected is None else money(cost.expected), money(cost.most)


def _time_lines(plan: LadderPlan) -> Iterator[str]:
    seconds = sorted({rates.latency for rates in plan.rates})
    told = ", ".join(dict.fromkeys(_TOLD[rates.latency_from] for rates in plan.rates))
    spread = f"{seconds[0]:.3g}" if len(seconds) == 1 else f"{seconds[0]:.3g} to {seconds[-1]:.3g}"
    yield from folded(f"time: at least {time_words(plan.wall.seconds)}, at {spread} s a call ({told})")
    for bound in plan.wall.bounds[:3]:
        yield from folded(f"  {time_words(bound.seconds)}: {_bound(bound)}")


def _bound(bound: Bound) -> str:
    return _BOUNDS[bound.kind] if bound.model is None else f"{shown(bound.model)}, {_BOUNDS[bound.kind]}"


def time_words(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 60 else duration(seconds)


def notes(plan: LadderPlan) -> Iterator[str]:
    """What the figures rest on, a line each."""
    if not plan.models:
        yield legend("planned")
        return
    pilots = ", ".join(f"{game.pilots} of {game.game}" for game in plan.games if game.pilots)
    yield (
        f"Prompts were counted on pilot episodes ({pilots}): the entrants' own prompts, with scripted policies moving "
        "for the models, on deals that the run will not play. No model was asked and nothing was written."
    )
    yield _ratio_note(plan)
    yield (
        "Least: games as short as the shortest pilot, one attempt a decision, shortest legal answers. Most: games as "
        "long as the longest, two attempts at every decision, every answer at max_tokens, full notes. Requests made "
        "again after a provider's failure come on top."
    )
    shares = sorted({rates.retry_share for rates in plan.rates})
    if shares[-1:] > [0.0]:
        told = ", ".join(dict.fromkeys(_TOLD[rates.retry_from] for rates in plan.rates))
        yield f"Expected: {share(shares[0])} to {share(shares[-1])} of the decisions are asked a second time ({told})."
    else:
        yield "Expected: no second attempts, the best case (--from RUN measures them, --retry-share sets them)."
    yield legend("planned")
    yield "Prices are per token and in full: no discount for cached prompts is counted on."
    if plan.left.unpriced:
        names = ", ".join(map(shown, plan.left.unpriced))
        yield f"The price of {names} is not known, so its cost is unknown, not 0 (set a price in [models])."


def legend(what: str) -> str:
    """How to read the tables of blocks; `what` the blocks with a star are."""
    return (
        f"Blocks with a * are the {what} ones. Blocks detect a true difference of that size with the power asked for; "
        f"{NOTHING}: none that two mean scores could have. A leader of several is called first later than that."
    )


def _ratio_note(plan: LadderPlan) -> str:
    assumed = [rates for rates in plan.rates if rates.calibrated is None]
    if assumed:
        return (
            f"Tokens are counted at {CHARACTERS_PER_TOKEN:g} characters each, which real tokenizers miss by up to a "
            "third either way; --from RUN takes the ratio from an earlier run."
        )
    ratios = sorted({rates.characters_per_token for rates in plan.rates})
    return (
        f"Tokens are counted at {_range(ratios)} characters each, as measured in {shown(plan.source or '')} "
        f"({', '.join(dict.fromkeys(_TOLD[rates.calibrated] for rates in plan.rates))})."
    )


def _range(values: Sequence[float]) -> str:
    low, high = f"{values[0]:.2f}", f"{values[-1]:.2f}"
    return low if low == high else f"{low} to {high}"


def _span(span: Span, form: Callable[[float], str]) -> str:
    if span.expected is not None:
        return form(span.expected)
    low, high = form(span.least), form(span.most)
    return low if low == high else f"{low}-{high}"


def _tokens(value: float) -> str:
    return count(round(value))


def _cost(sums: Estimate) -> str:
    return "unknown" if sums.unpriced else _span(sums.cost, money)


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Aligned columns, the first to the left, two spaces in."""
    right = [column > 0 for column in range(len(headings))]
    return [f"  {line}" for line in aligned([headings, *rows], right)]
