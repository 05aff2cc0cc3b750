"""A verdict for people: lines for a terminal, and Markdown for a pull request.

Owns the wording and the layout. Names and model text come out harmless. Every figure is taken from the verdict.
"""

from __future__ import annotations

from collections.abc import Iterator

from weigh.harness.gate.checks import CheckResult
from weigh.harness.gate.conduct import CHECK, per_cent
from weigh.harness.gate.sequential import Look
from weigh.harness.gate.spent import Spent
from weigh.harness.gate.standing import Standing
from weigh.harness.gate.verdict import BuildVerdict, GateVerdict
from weigh.harness.report.render.markdown import at_line_start, harmless
from weigh.harness.words import count, interval, money, plural, score, shown

HISTORY = 5
"""Earlier judgements that are told; the last ones."""

WORDS = {
    "pass": "PASS",
    "regression": "REGRESSION",
    "inconclusive": "INCONCLUSIVE, which is not a pass",
    "invalid": "INVALID: nothing is said of the policy",
}


HEADING = "## weigh gate:"
"""What every page begins with."""


def text_lines(build: BuildVerdict) -> Iterator[str]:
    """The whole build, for a terminal."""
    for number, gate in enumerate(build.gates):
        if number:
            yield ""
        yield from _gate_lines(gate)
    if len(build.gates) > 1:
        yield ""
        yield f"{shown(build.name)}: {WORDS[build.verdict]} ({plural(len(build.gates), 'gate')})"
    if build.interrupted:
        yield "interrupted before the end"
    yield f"this sitting: {_paid(build.sitting)}"


def _gate_lines(gate: GateVerdict) -> Iterator[str]:
    yield f"{shown(gate.subject.name)}: {WORDS[gate.verdict]}"
    yield f"  {shown(gate.reason, limit=600)}"
    for problem in gate.problems[1:]:
        yield f"  {shown(problem, limit=600)}"
    width = max(len(label) for label, _ in _rows(gate))
    for label, value in _rows(gate):
        yield f"  {label:<{width}}  {shown(value, limit=600)}"
    for check in gate.checks:
        yield f"  check {check.measure}: {check.verdict} ({_check(check)})"
    for warning in gate.warnings:
        yield f"  warning: {shown(warning, limit=600)}"
    if gate.next:
        yield f"  next: {shown(gate.next, limit=600)}"


def markdown(build: BuildVerdict) -> str:
    """The whole build as Markdown: a heading, a table of gates, and the details of each."""
    lines = [f"{HEADING} {harmless(build.name)}: {WORDS[build.verdict]}", ""]
    if build.interrupted:
        lines += ["Interrupted before the end.", ""]
    lines += ["| gate | verdict | difference | bounds | margin | blocks | calls |", "|:--|:--|--:|:--|--:|--:|--:|"]
    for gate in build.gates:
        look = gate.standing.look if gate.standing is not None else None
        cells = [
            harmless(gate.subject.name),
            gate.verdict,
            score(look.mean if look is not None else None),
            _bounds(look),
            "-" if gate.terms is None else f"{gate.terms.margin:g}",
            "0" if look is None else str(look.n),
            count(gate.spent.calls),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    for gate in build.gates:
        lines += ["", f"### {harmless(gate.subject.name)}: {WORDS[gate.verdict]}", "", at_line_start(gate.reason), ""]
        lines += [f"- {at_line_start(problem)}" for problem in gate.problems[1:]]
        lines += [f"- {label}: {harmless(value)}" for label, value in _rows(gate)]
        lines += [
            f"- check {harmless(check.measure)}: {check.verdict} ({harmless(_check(check))})" for check in gate.checks
        ]
        lines += [f"- warning: {harmless(warning)}" for warning in gate.warnings]
        if gate.next:
            lines.append(f"- next: {harmless(gate.next)}")
    lines += ["", f"This sitting: {harmless(_paid(build.sitting))}."]
    return "\n".join(lines) + "\n"


def failed_page(name: str, reason: str) -> str:
    """The page of a build that came to no verdict."""
    return f"{HEADING} {harmless(name)}: NOT JUDGED\n\n{at_line_start(reason)}\n"


def _rows(gate: GateVerdict) -> list[tuple[str, str]]:
    look = gate.standing.look if gate.standing is not None else None
    rows = [("estimand", gate.subject.estimand), *_identities(gate)]
    if gate.terms is not None:
        margin = f"{gate.terms.margin:g}; false pass {gate.terms.alpha:g}, false alarm {gate.terms.beta:g}"
        rows.append(("margin", margin))
    if gate.standing is not None:
        void = f", {gate.standing.missing} void" if gate.standing.missing else ""
        void += f", {gate.baseline_void} void in the baseline" if gate.baseline_void else ""
        number = 0 if look is None else look.n
        rows.append(("blocks", f"{number} ({plural(number * gate.subject.seats, 'pair')}){void}"))
        rows.append(("difference", f"{score(look.mean if look else None)}, bounds {_bounds(look)}"))
        rows.append(("ends", _ends(gate.standing)))
        rows.append(("detectable", _detectable(look)))
        rows.append(("fixed test", _fixed(gate, look)))
        for label, mine, theirs in (
            ("fallbacks", gate.candidate_rates.fallback, gate.baseline_rates.fallback),
            ("retries", gate.candidate_rates.retry, gate.baseline_rates.retry),
        ):
            rows.append((label, f"{per_cent(mine)} of the candidate's moves, {per_cent(theirs)} of the baseline's"))
        rows.append(("spent", f"{_of_episodes(gate.spent)}, on the blocks judged"))
        if gate.all_sittings != gate.spent:
            rows.append(("all sittings", _of_episodes(gate.all_sittings)))
    if gate.all_sittings.void_starts:
        again = f"{plural(gate.all_sittings.replayed, 'episode')} begun again with the same seed"
        rows.append(("outages", f"{plural(gate.all_sittings.void_starts, 'void start')}, {again}"))
    if gate.standing is not None and look is not None:
        told = gate.p_regression_holm in (None, look.p_regression)
        holm = "" if told else f", corrected {_plain(gate.p_regression_holm)}"
        rows.append(("p", f"worse by the margin {_plain(look.p_pass)}; as good {_plain(look.p_regression)}{holm}"))
    measured = [check for check in gate.checks if check.measure != CHECK]
    if measured:
        blocks = plural(max(check.blocks for check in measured), "block")
        rows.append(
            ("checks", f"measured over {blocks}; a measured value within its threshold has no error rate of its own")
        )
    if gate.judged_before:
        more = len(gate.judged_before) - HISTORY
        last = "; ".join(judgement.told for judgement in gate.judged_before[-HISTORY:])
        rows.append(("judged before", f"{last}{f'; and {more} times before' if more > 0 else ''}"))
    return rows


def _identities(gate: GateVerdict) -> list[tuple[str, str]]:
    """Who is held against whom, and in what they differ."""
    subject = gate.subject
    file = "" if subject.baseline_digest is None else f"; the file's digest {subject.baseline_digest[:12]}"
    rows = [
        (role, f"{who.told}{more}")
        for role, who, more in (
            ("candidate", subject.candidate_policy, ""),
            ("baseline", subject.baseline_policy, file),
        )
        if who is not None
    ]
    if len(rows) == 2:
        rows.append(("differs", f"from the baseline in: {', '.join(subject.differs) or 'nothing'}"))
    return rows


def _ends(standing: Standing) -> str:
    """What was taken for the largest loss and gain of a block."""
    span = f"{standing.design.least:+.3g} to {standing.design.greatest:+.3g}"
    return f"a block may differ by {span} (by the rules and the baseline's scores)"


def _of_episodes(spent: Spent) -> str:
    return f"{plural(spent.episodes, 'episode')}, {_paid(spent)}"


def _paid(spent: Spent) -> str:
    return f"{plural(spent.calls, 'call')}, {money(spent.cost_known_usd, spent.unknown_cost_calls)}"


def _detectable(look: Look | None) -> str:
    if look is None:
        return "-"
    if look.mde is None:
        return f"- (no spread to reckon with: all blocks agree; losses beyond {max(0.0, -look.lower):.3g} are excluded)"
    return f"{look.mde:.3g} (in {look.n} blocks by a fixed test)"


def _fixed(gate: GateVerdict, look: Look | None) -> str:
    if look is None or gate.standing is None:
        return "-"
    if look.fixed_n is None:
        fewest = plural(gate.standing.design.fewest_to_pass, "block")
        return f"- (no spread to plan one with; this gate passes after {fewest} that all agree); saved -"
    blocks, saved = plural(look.fixed_n, "block"), gate.saved_blocks
    if saved is None:
        return f"{blocks}; saved - (nothing is decided, so nothing is saved)"
    calls = f", about {plural(abs(gate.saved_calls), 'call')}" if gate.saved_calls else ""
    return f"{blocks}; {abs(saved)} {'saved' if saved >= 0 else 'more taken'}{calls}"


def _check(check: CheckResult) -> str:
    before = "" if check.baseline is None else f"; {check.baseline:.4g} in the baseline"
    return f"{check.reason}{before}"


def _plain(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def _bounds(look: Look | None) -> str:
    return "-" if look is None else interval((look.lower, look.upper))
