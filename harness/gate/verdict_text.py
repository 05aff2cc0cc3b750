"""A verdict for people: lines for a terminal, and Markdown for a pull request.

Owns the wording and the layout. Names and model text come out harmless. Every figure is taken from the verdict.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.display_words import count, money, plural, score, shown
from harness.gate.checks import CheckResult
from harness.gate.sequential import Look
from harness.gate.verdict import BuildVerdict, GateVerdict

WORDS = {
    "pass": "PASS",
    "regression": "REGRESSION",
    "inconclusive": "INCONCLUSIVE, which is not a pass",
    "invalid": "INVALID: nothing is said of the policy",
}


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
    if gate.next:
        yield f"  next: {shown(gate.next, limit=600)}"


def markdown(build: BuildVerdict) -> str:
    """The whole build as Markdown: a heading, a table of gates, and the details of each."""
    lines = [f"## weigh gate: {_md(build.name)}: {WORDS[build.verdict]}", ""]
    if build.interrupted:
        lines += ["Interrupted before the end.", ""]
    lines += ["| gate | verdict | difference | bounds | margin | blocks | calls |", "|:--|:--|--:|:--|--:|--:|--:|"]
    for gate in build.gates:
        look = gate.standing.look if gate.standing is not None else None
        cells = [
            _md(gate.subject.name),
            gate.verdict,
            _number(look.mean if look is not None else None),
            _bounds(look),
            "-" if gate.terms is None else f"{gate.terms.margin:g}",
            "0" if look is None else str(look.n),
            count(gate.spent.calls),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    for gate in build.gates:
        lines += ["", f"### {_md(gate.subject.name)}: {WORDS[gate.verdict]}", "", _md(gate.reason), ""]
        lines += [f"- {_md(problem)}" for problem in gate.problems[1:]]
        lines += [f"- {label}: {_md(value)}" for label, value in _rows(gate)]
        lines += [f"- check `{check.measure}`: {check.verdict} ({_check(check)})" for check in gate.checks]
        if gate.next:
            lines.append(f"- next: {_md(gate.next)}")
    return "\n".join(lines) + "\n"


def _rows(gate: GateVerdict) -> list[tuple[str, str]]:
    look = gate.standing.look if gate.standing is not None else None
    rows = [("estimand", gate.subject.estimand)]
    if gate.terms is not None:
        margin = f"{gate.terms.margin:g}; false pass {gate.terms.alpha:g}, false alarm {gate.terms.beta:g}"
        rows.append(("margin", margin))
    if gate.standing is not None:
        void = f", {gate.standing.missing} void" if gate.standing.missing else ""
        void += f", {gate.baseline_void} void in the baseline" if gate.baseline_void else ""
        number = 0 if look is None else look.n
        rows.append(("blocks", f"{number} ({plural(number * gate.subject.seats, 'pair')}){void}"))
        rows.append(("difference", f"{_number(look.mean if look else None)}, bounds {_bounds(look)}"))
        rows.append(("detectable", f"{_plain(look.mde if look else None)} (in {number} blocks by a fixed test)"))
        rows.append(("fixed test", _fixed(gate, look)))
    spent = gate.spent
    cost = money(spent.cost_known_usd, spent.unknown_cost_calls)
    rows.append(("spent", f"{plural(spent.episodes, 'episode')}, {plural(spent.calls, 'call')}, {cost}"))
    if spent.void_starts:
        again = f"{plural(spent.replayed, 'episode')} begun again with the same seed"
        rows.append(("outages", f"{plural(spent.void_starts, 'void start')}, {again}"))
    if gate.standing is not None and look is not None:
        told = gate.p_regression_holm in (None, look.p_regression)
        holm = "" if told else f", corrected {_plain(gate.p_regression_holm)}"
        rows.append(("p", f"worse by the margin {_plain(look.p_pass)}; as good {_plain(look.p_regression)}{holm}"))
    return rows


def _fixed(gate: GateVerdict, look: Look | None) -> str:
    if look is None or look.fixed_n is None:
        return "- (no spread to plan one with)"
    saved = gate.saved_blocks
    if saved is None:
        return plural(look.fixed_n, "block")
    calls = f", about {plural(abs(gate.saved_calls), 'call')}" if gate.saved_calls else ""
    return f"{plural(look.fixed_n, 'block')}; {abs(saved)} {'saved' if saved >= 0 else 'more taken'}{calls}"


def _check(check: CheckResult) -> str:
    before = "" if check.baseline is None else f"; {check.baseline:.4g} in the baseline"
    return f"{check.reason}{before}"


def _number(value: float | None) -> str:
    return "-" if value is None else score(value)


def _plain(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def _bounds(look: Look | None) -> str:
    return "-" if look is None else f"{score(look.lower)} to {score(look.upper)}"


def _md(text: str) -> str:
    """Text without a meaning in Markdown or HTML."""
    line = shown(text, limit=600).replace("\\", "\\\\").replace("&", "&amp;").replace("<", "&lt;")
    for mark in "`*_[]|#":
        line = line.replace(mark, f"\\{mark}")
    return line
