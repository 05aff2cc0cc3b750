"""A verdict for people: lines for a terminal, and Markdown for a pull request.

Owns the wording and the layout, and the drawing of an interval on a line, which comparisons share: the answer and the
exit code first, the interval with the margin and 0, a few labelled lines; everything else in `wide`. Names and model
text come out harmless. Every figure is taken from the verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Final

from weigh.harness.gate.measures import CHECK, CheckResult
from weigh.harness.gate.play import Taken
from weigh.harness.gate.sequential import Analysis
from weigh.harness.gate.verdict import EXIT_CODES, BuildVerdict, GateVerdict
from weigh.harness.report.render.markdown import at_line_start, harmless
from weigh.harness.report.render.text import ASCII, Ink, limit_of
from weigh.harness.stats.rare import RareLoss
from weigh.harness.words import interval, money, plural, score, share, shown

EARLIER: Final = 5
"""Earlier verdicts that are told; the last ones."""

LABEL: Final = 10
"""Columns of the labels."""

WIDTH: Final = 80

NOTES: Final[Mapping[str, str]] = {"inconclusive": ", not green", "invalid": ", nothing is said of the policy"}

HEADING: Final = "## weigh gate:"
"""What every page begins with."""

Row = tuple[str, str]


def text_lines(build: BuildVerdict, width: int = WIDTH, ink: Ink = ASCII, *, wide: bool = False) -> Iterator[str]:
    """The whole build, for a terminal of `width` columns."""
    several = len(build.gates) > 1
    if several or build.interrupted:
        yield headline(_words(build), build.name, width)
        yield from (f"  {shown(_one_line(gate), limit=600)}" for gate in build.gates if several)
        yield ""
    for number, gate in enumerate(build.gates if wide else (_worst(build),)):
        if number:
            yield ""
        yield from _gate_lines(gate, width, ink, wide)


def headline(answer: str, name: str, width: int) -> str:
    """The answer at the left end of a line, what it is of at the right end."""
    where = shown(name, limit=width // 2)
    return f"{answer}{where:>{max(len(where) + 2, width - len(answer))}}"


def labelled(rows: Iterable[Row], width: int) -> Iterator[str]:
    """A label each, and what it says in as many lines as it takes."""
    for label, value in rows:
        opening, below = f"{label:<{LABEL}}", " " * LABEL
        text = shown(value, limit=900)
        yield from wrap(text, width, initial_indent=opening, subsequent_indent=below, break_on_hyphens=False)


def picture(
    mean: float, ends: Sequence[float] | None, ink: Ink, width: int = WIDTH, margin: float | None = None
) -> list[str]:
    """An interval on a line with its mean, 0 and, where there is one, the margin; above it what stands where."""
    room = width - 4
    values = [mean, *(ends or ()), *([-margin] if margin is not None else [])]
    # Neither side is so short that nothing can be read there.
    far = max(map(abs, values)) / 4
    low, high = -limit_of([far, -min(0.0, *values)]), limit_of([far, max(0.0, *values)])

    def column(value: float) -> int:
        return round((min(high, max(low, value)) - low) / (high - low) * (room - 1))

    bar = [" "] * room
    if ends is not None:
        first, last = map(column, ends)
        bar[first : last + 1] = ink.bar * (last + 1 - first)
        bar[first], bar[last] = ink.low, ink.high
    bar[column(0.0)] = ink.zero
    if margin is not None:
        bar[column(-margin)] = ink.margin
    bar[column(mean)] = ink.mark
    labels = [(column(0.0), "0"), (0, f"{low:+g}" if low else ""), (room, f"{high:+g}" if high else "")]
    labels += [] if margin is None else [(column(-margin), "margin")]
    title = " " * room
    for place, text in labels:
        start = min(max(0, place - len(text) // 2), room - len(text))
        while start > 0 and title[max(0, start - 1) : start + len(text) + 1].strip():
            start -= 1
        if not title[max(0, start - 1) : start + len(text) + 1].strip():
            title = title[:start] + text + title[start + len(text) :]
    return [f"  {title}".rstrip(), f"  {''.join(bar)}".rstrip()]


def barring(guaranteed: bool) -> str:
    """What follows a claim that only holds where rare failures have shown."""
    return "" if guaranteed else ", barring rare failures"


def in_rare_blocks(loss: RareLoss) -> str:
    """`12 blocks cannot exclude a loss of 1.00 in up to 22% of blocks, which would move the mean by 0.22.`"""
    return (
        f"{plural(loss.blocks, 'block')} cannot exclude a loss of {loss.loss:.2f} in up to {loss.share:.0%} of blocks, "
        f"which would move the mean by {loss.moves:.2f}."
    )


def markdown(build: BuildVerdict) -> str:
    """The whole build as Markdown: the verdict, a line for each of several gates, the worst one; the rest is folded."""
    lines = [f"{HEADING} {harmless(build.name)}: {_words(build)}", ""]
    if len(build.gates) > 1:
        lines += [*(f"- {harmless(_one_line(gate))}" for gate in build.gates), ""]
    gate = _worst(build)
    lines += [harmless(_who(gate)), ""]
    drawn = _picture(gate, WIDTH, ASCII)
    lines += ["```", *drawn, "```", ""] if drawn else []
    lines += [f"- **{label}**: {at_line_start(value)}" for label, value in _rows(gate)]
    for each in build.gates:
        rows = [f"- {label}: {harmless(value)}" for label, value in _wide_rows(each)]
        title = f"Everything about {harmless(each.identity.name)}"
        lines += ["", f"<details><summary>{title}</summary>", "", *rows, "", "</details>"]
    return "\n".join(lines) + "\n"


def failed_page(name: str, reason: str) -> str:
    """The page of a build that came to no verdict."""
    return f"{HEADING} {harmless(name)}: NOT JUDGED\n\n{at_line_start(reason)}\n"


def _words(found: BuildVerdict | GateVerdict) -> str:
    """`INCONCLUSIVE (exit 3, not green)`."""
    code = found.exit_code if isinstance(found, BuildVerdict) else EXIT_CODES[found.verdict]
    stopped = isinstance(found, BuildVerdict) and found.interrupted
    note = ", interrupted before the end" if stopped else NOTES.get(found.verdict, "")
    return f"{found.verdict.upper()} (exit {code}{note})"


def _worst(build: BuildVerdict) -> GateVerdict:
    """The first gate that says what the build says."""
    return next(gate for gate in build.gates if gate.verdict == build.verdict)


def _one_line(gate: GateVerdict) -> str:
    """`PASS  bids  -0.010 [-0.050, +0.040]  margin 0.1`."""
    found, margin = gate.analysis, "" if gate.design is None else f"  margin {gate.design.margin:g}"
    what = gate.reason if found is None else f"{score(found.mean)} {_bounds(found)}{margin}"
    return f"{gate.verdict.upper():<12}  {gate.identity.name}  {what}"


def _gate_lines(gate: GateVerdict, width: int, ink: Ink, wide: bool) -> Iterator[str]:
    yield headline(_words(gate), gate.identity.name, width)
    yield from wrap(shown(_who(gate), limit=600), width)
    drawn = _picture(gate, width, ink)
    yield from ("", *drawn) if drawn else ()
    yield ""
    yield from labelled([*_rows(gate), *(_wide_rows(gate) if wide else ())], width)
    if not wide:
        yield from labelled([("more", "--wide  --json")], width)


def _who(gate: GateVerdict) -> str:
    identity, found = gate.identity, gate.analysis
    count = plural(0 if found is None else found.n, "block")
    void = f", {gate.state.missing} void" if gate.state is not None and gate.state.missing else ""
    void += f", {gate.baseline_void} void in the baseline" if gate.baseline_void else ""
    return f"{identity.candidate} (candidate) against {identity.baseline} (baseline) at {identity.game}, {count}{void}"


def _picture(gate: GateVerdict, width: int, ink: Ink) -> list[str]:
    found, design = gate.analysis, gate.design
    if found is None or found.mean is None or design is None:
        return []
    figures = f"  difference  {score(found.mean)}   bounds {_bounds(found)}   margin {score(-design.margin)}"
    return [*picture(found.mean, (found.lower, found.upper), ink, width, design.margin), figures]


def _bounds(found: Analysis) -> str:
    return interval((found.lower, found.upper))


def _rows(gate: GateVerdict) -> Iterator[Row]:
    """What a hurried reader should see."""
    for problem in gate.problems or (gate.reason,):
        yield "why", problem
    yield from (("warning", warning) for warning in gate.warnings)
    if gate.next:
        yield "next", gate.next
    if gate.state is not None and gate.design is not None:
        mine, theirs = (
            share(None if rates.fallback is None else 1 - rates.fallback)
            for rates in (gate.candidate_rates, gate.baseline_rates)
        )
        needs = share(1 - gate.design.max_fallback_rate)
        yield "moves", f"its own: candidate {mine}, baseline {theirs} (a pass needs {needs})"
    held = sum(check.verdict == "pass" for check in gate.checks)
    if gate.checks:
        yield "checks", f"{held} of {plural(len(gate.checks), 'check')} passed"
    if gate.earlier:
        more = len(gate.earlier) - EARLIER
        last = "; ".join(map(str, gate.earlier[-EARLIER:]))
        yield "earlier", f"{last}{f'; and {more} times before' if more > 0 else ''}"
    if gate.state is not None:
        fixed = gate.analysis.fixed_n if gate.analysis is not None and gate.saved_blocks is not None else None
        beside = "" if fixed is None else f" (a fixed-size test: {plural(fixed, 'block')})"
        yield "cost", f"{spent(gate.taken)}{beside}"
        yield "files", gate.identity.folder


def spent(taken: Taken) -> str:
    """`120 episodes, 0 calls, $0.00`."""
    usage = taken.usage
    cost = money(usage.cost_known_usd, usage.unknown_cost_calls)
    return f"{plural(taken.episodes, 'episode')}, {plural(usage.calls, 'call')}, {cost}"


def _wide_rows(gate: GateVerdict) -> Iterator[Row]:
    """Everything else."""
    identity, design, state, found = gate.identity, gate.design, gate.state, gate.analysis
    yield "estimand", identity.estimand
    for role, policy in (("candidate", identity.candidate_policy), ("baseline", identity.baseline_policy)):
        if policy is not None:
            file = role == "baseline" and identity.baseline_digest is not None
            yield role, f"{policy}{f'; file {(identity.baseline_digest or str())[:12]}' if file else ''}"
    if identity.candidate_policy is not None and identity.baseline_policy is not None:
        yield "differs", f"from the baseline in: {', '.join(identity.differs) or 'nothing'}"
    if design is not None:
        yield "errors", f"false pass {share(design.alpha)}, false regression {share(design.beta)}"
    if state is None:
        return
    played = state.design
    yield "range", f"a block may differ by {interval((played.least, played.greatest))} (rules and baseline's scores)"
    yield "pass", f"at the earliest after {plural(played.fewest_to_pass, 'block')} that all agree"
    if found is not None:
        yield "power", f"minimum detectable difference (80% power): {_figure(found.detectable)}"
        if found.fixed_n is not None:
            calls = f", about {plural(abs(gate.saved_calls), 'call')}" if gate.saved_calls else ""
            saved = gate.saved_blocks
            beside = "" if saved is None else f"; {abs(saved)} {'saved' if saved >= 0 else 'more taken'}{calls}"
            yield "fixed", f"{plural(found.fixed_n, 'block')} of a fixed-size test{beside}"
        holm = gate.p_regression_holm
        more = "" if holm in (None, found.p_regression) else f" (Holm {_figure(holm)})"
        values = f"p(loss >= margin) = {_figure(found.p_pass)}, p(no loss) = {_figure(found.p_regression)}{more}"
        yield "p", f"{values}; valid at every interim analysis"
    rates = (gate.candidate_rates, gate.baseline_rates)
    for label, shares in (("fallback", [r.fallback for r in rates]), ("retried", [r.retry for r in rates])):
        yield label, f"candidate {share(shares[0])}, baseline {share(shares[1])} of the moves"
    yield from (("check", f"{check.measure}: {check.verdict} ({_check(check)})") for check in gate.checks)
    if any(check.measure != CHECK for check in gate.checks):
        yield "checked", f"over {max(check.blocks for check in gate.checks)} blocks; max and min have no error rate"
    if gate.all_invocations != gate.taken:
        yield "all runs", spent(gate.all_invocations)
    if gate.all_invocations.void_starts:
        again = f"{plural(gate.all_invocations.replayed, 'episode')} begun again with the same seed"
        yield "outages", f"{plural(gate.all_invocations.void_starts, 'void start')}, {again}"


def _check(check: CheckResult) -> str:
    return check.reason if check.baseline is None else f"{check.reason}; {check.baseline:.4g} in the baseline"


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"
