"""What a rematch says, in words: a small table for each pair, and a sentence for each question.

Owns the wording, which says no more than was found: that something depends on an entrant is not yet that the two are in
league. Computes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weigh.harness.audit.collusion.rematch import MARGIN, Answer, Arm, Contrast
from weigh.harness.report.sections.verdict import barring
from weigh.harness.words import plural, score

READING = (
    "`depends on` is about how an entrant plays or who it is: one that answers to the other's bids is not yet in "
    "league with it. Read their moves (docs/explanation/appendix.md, Controlled replay)."
)


def lines(answers: Sequence[Answer]) -> Iterator[str]:
    """Plain lines: for each pair its arms, then its questions; at the end how to read them."""
    for answer in answers:
        yield from _pair(answer)
        yield ""
    if answers:
        yield READING


def _pair(answer: Answer) -> Iterator[str]:
    one, other = answer.pair
    yield f"Does {one} stand aside for {other}? The lowest card on a big prize, as a share of {one}'s own bids on them:"
    titles: dict[Arm, str] = {
        "first": "in the run",
        "again": "again",
        "aliases": "names dealt anew",
        "replaced": f"{other} replaced by {answer.stand_in}",
    }
    wide = max(map(len, titles.values()))
    for level in answer.levels:
        share = "-" if level.share is None else f"{level.share:.2f}"
        mean = "-" if level.score is None else score(level.score)
        sat = other if level.arm != "replaced" else answer.stand_in
        yield (
            f"  {titles[level.arm]:<{wide}}  {share:>4}  of {level.rounds} bids at {plural(level.tables, 'table')}; "
            f"{sat} scored {mean}"
        )
    for contrast in answer.contrasts:
        yield f"  again less {titles[contrast.arm]}: {_numbers(contrast)}"
        yield f"    {sentence(answer, contrast)}"


def sentence(answer: Answer, contrast: Contrast) -> str:
    """What a contrast says of its question."""
    one, other = answer.pair
    if contrast.verdict == "open":
        if contrast.more_blocks is None:
            return "not enough evidence: there are fewer than two blocks with both"
        return f"not enough evidence: about {plural(contrast.more_blocks, 'more block')} would tell"
    said = {
        ("aliases", "same"): f"stays under other names (within {MARGIN:.2f}): the names do not carry it",
        ("aliases", "less"): "goes down under other names: it depends on the names",
        ("aliases", "more"): "goes up under other names: the names held it down",
        ("replaced", "same"): f"stays when {other} is replaced (within {MARGIN:.2f}): it does not depend on {other}",
        ("replaced", "less"): f"goes down when {other} is replaced: it depends on {other}",
        ("replaced", "more"): f"goes up when {other} is replaced: {other} is no reason for {one} to stand aside",
    }
    grade = "" if contrast.verdict == "same" else barring(contrast.guaranteed)
    return f"{said[contrast.arm, contrast.verdict]}{grade}"


def _numbers(contrast: Contrast) -> str:
    if contrast.mean is None:
        return "no table in both"
    parts = [f"{contrast.mean:+.2f}"]
    if contrast.interval is not None:
        parts.append(f"[{contrast.interval[0]:+.2f}, {contrast.interval[1]:+.2f}]")
    if contrast.p_holm is not None:
        parts.append(f"p {contrast.p_holm:.3f}" if contrast.p_holm >= 0.001 else "p < 0.001")
    return f"{' '.join(parts)}, {plural(contrast.blocks, 'block')}"
