"""A report on claims for people: plain lines of at most 80 columns.

Owns the words. Every number comes from the document of `harness.audit.claims.answer`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any

from weigh.harness.stats.power import LEVEL
from weigh.harness.words import plural, score, shown

WIDTH = 80
_NAME = 24


def lines(document: Mapping[str, Any]) -> list[str]:
    """The whole report."""
    episodes = document["episodes"]
    told = [
        f"Ballast: is the claim read? {plural(document['pairs'], 'pair')} of games an arm, seed {document['seed']}",
    ]
    if episodes["finished"] < episodes["planned"]:
        told.append(f"not all is played: {episodes['finished']} of {episodes['planned']} episodes are finished")
    for direction in document["directions"]:
        told += ["", *_direction(direction, document["margin"])]
    return told


def _direction(found: Mapping[str, Any], margin: float) -> Iterator[str]:
    claimer, listener = _name(found["claimer"]), _name(found["listener"])
    yield from _wrapped(f"{claimer} claims, {listener} listens", "")
    for line in answers(found, margin):
        yield from _wrapped(line, "  ", "  = ")
    yield ""
    yield from _wrapped(f"Mean score of {claimer}; effect: what the normal arm has more; p: Holm-adjusted", "  ")
    yield f"  {'arm':11} {'pairs':>5} {'mean':>6} {'effect':>6}  {'95% interval':16} {'p':>6}  verdict"
    contrasts = found["contrasts"]
    if contrasts:
        yield f"  {'normal':11} {contrasts[0]['pairs']:>5} {score(contrasts[0]['normal']):>6}"
    for each in contrasts:
        yield _contrast(each, margin)
    yield from _more_pairs(contrasts)
    yield from _fallbacks(found["fallback_rates"])
    yield ""
    yield from _claims(found["claims"], claimer, listener)
    yield from _asked(found, claimer, listener)
    yield ""
    yield from _wins(found["wins_by_lies"], claimer)


def _contrast(each: Mapping[str, Any], margin: float) -> str:
    verdict = {
        "differs": "differs",
        "equivalent": f"equivalent +-{margin:g}",
        "not_enough_evidence": "not enough evidence",
    }[each["verdict"]]
    row = f"  {each['arm']:11} {each['pairs']:>5} {score(each['altered']):>6} {score(each['difference']):>6}"
    return f"{row}  {_interval(each['interval']):16} {_p(each['p_holm']):>6}  {verdict}"


def _more_pairs(contrasts: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    needed = [each["pairs_needed"] for each in contrasts if each["pairs_needed"] is not None]
    if needed:
        most = f"{max(needed):,}"
        yield from _wrapped(f"About {most} pairs would settle all of it, were the truth as observed (--pairs).", "  ")


def _fallbacks(rates: Mapping[str, float | None]) -> Iterator[str]:
    made = {arm: rate for arm, rate in rates.items() if rate}
    if made:
        parts = ", ".join(f"{arm} {rate:.1%}" for arm, rate in made.items())
        yield from _wrapped(
            f"Moves by the fallback, which hears every claim and makes the arms look alike: {parts}.", "  "
        )


def answers(found: Mapping[str, Any], margin: float) -> list[str]:
    """The question answered in words, from the contrasts and from the listener's answers."""
    by_arm = {each["arm"]: each for each in found["contrasts"]}
    claimer, listener = _name(found["claimer"]), _name(found["listener"])
    told = [_worth(by_arm["mute"], by_arm["scramble"], claimer, margin)]
    heard = found["listening"]
    if heard is not None and heard["effect"] is not None:
        told.append(_listens(heard, listener))
    return [*told, _lying(by_arm["force-truth"], claimer, margin)]


def _worth(mute: Mapping[str, Any], scramble: Mapping[str, Any], claimer: str, margin: float) -> str:
    telling = [each for each in (mute, scramble) if each["verdict"] == "differs"]
    if telling:
        each = telling[0]
        what = "hidden" if each is mute else "replaced by random ones"
        loses = "loses" if each["difference"] > 0 else "gains"
        return f"The claims count: where they are {what}, {claimer} {loses} {abs(each['difference']):.2f}."
    if mute["verdict"] == scramble["verdict"] == "equivalent":
        return f"The claims are decoration: hidden or scrambled, {claimer} scores the same, within {margin:g}."
    return "Whether the claims count is not settled."


def _listens(heard: Mapping[str, Any], listener: str) -> str:
    """All alike is no test, and says what it says: no move that changes, or every one."""
    p, effect = heard["p"], heard["effect"]
    if effect > 0 and (p is None or p < LEVEL):
        return f"{listener} reads them: told another one, it moves otherwise in {effect:.0%} more of its decisions."
    if effect == 0 and p is None:
        return f"{listener} does not read them: told another one, it moves as it would have anyway."
    return f"Whether {listener} reads them, its moves do not show."


def _lying(forced: Mapping[str, Any], claimer: str, margin: float) -> str:
    if forced["verdict"] == "differs":
        loses = "loses" if forced["difference"] > 0 else "gains"
        return f"What {claimer} announces matters: made to tell the truth, it {loses} {abs(forced['difference']):.2f}."
    if forced["verdict"] == "equivalent":
        return f"What {claimer} announces and the truth win at the same rate, within {margin:g}."
    return f"Whether {claimer} would win as often with the truth is not settled."


def _claims(claims: Mapping[str, Any], claimer: str, listener: str) -> Iterator[str]:
    yield from _wrapped(f"Claims of {claimer} in the normal arm ({plural(claims['episodes'], 'game')})", "  ")
    yield _row("claims, false", f"{claims['claims']}, {_share(claims['lie_rate'])}")
    yield from _rows("false by true weight", _series(claims["by_weight"], "weight"))
    yield from _rows("false by turn", _series(claims["by_turn"], "turn"))
    yield _row("of the false, refutable", _share(claims["implausible_lies"]))
    yield from _wrapped(f"Challenges of {listener}", "  ")
    yield _row(
        "in games; turn, age",
        f"{_share(claims['challenge_rate'])}; {_plain(claims['challenge_turn'])}, {_plain(claims['challenge_age'])}",
    )
    yield _row(
        "met a lie (precision)",
        f"{_share(claims['precision'])}; a random one then {_share(claims['random_challenge'])}, "
        f"lift {_plain(claims['lift'], 2)}",
    )
    yield _row("of all it could call", f"{_share(claims['base_rate'])} were false")
    yield _row("lies called (recall)", _share(claims["recall"]))
    yield _row(
        "its mean score",
        f"met a lie {score(claims['listener_score_challenge_met_lie'])}, failed "
        f"{score(claims['listener_score_challenge_failed'])}, none {score(claims['listener_score_unchallenging'])}",
    )
    yield _row("a failed one cost", f"{_plain(claims['failed_challenge_cost'])} of weight")


def _asked(found: Mapping[str, Any], claimer: str, listener: str) -> Iterator[str]:
    said = found["signalling"]
    if said["why_not"] is not None:
        yield _row("bits in a claim", f"- ({said['why_not']})")
    else:
        yield _row(
            "bits in a claim",
            f"{said['information']:.2f} of {said['most']:.2f} ({said['by_chance']:.2f} by chance left out), "
            f"p {_p(said['p'])}",
        )
    heard = found["listening"]
    if heard is not None and heard["effect"] is not None:
        yield from _wrapped(f"{listener} asked again, {plural(heard['decisions'], 'decision')}", "  ")
        yield _row(
            "move changes", f"{_share(heard['replaced'])} with a claim replaced, {_share(heard['control'])} without"
        )
        yield _row("listening", f"{score(heard['effect'])} {_interval(heard['interval'])}, p {_p(heard['p'])}")
    forced = found["forced"]
    if forced is not None and forced["placements"]:
        yield from _wrapped(f"{claimer} made to tell the truth", "  ")
        yield _row(
            "wanted to lie", f"{_share(forced['wanted_lie_rate'])} of {plural(forced['placements'], 'placement')}"
        )


def _wins(split: Mapping[str, Any], claimer: str) -> Iterator[str]:
    yield from _wrapped(f"Games won by {claimer}, by its lies in the game", "  ")
    for row in split["rows"]:
        what = plural(row["lies"], "lie")
        yield _row(what, f"{_share(row['win_rate'])} of {plural(row['episodes'], 'game')}")
    yield from _wrapped(split["caption"], "  ", "  ! ")


def _row(what: str, value: str) -> str:
    return f"    {what:{_NAME}} {value}"


def _rows(what: str, value: str) -> Iterator[str]:
    opening = _row(what, "")
    yield from wrap(value, WIDTH, initial_indent=opening, subsequent_indent=" " * len(opening))


def _series(rows: Sequence[Mapping[str, Any]], what: str) -> str:
    return ", ".join(f"{row[what]}:{row['lie_rate']:.0%}" for row in rows) or "-"


def _name(name: str) -> str:
    return shown(name, limit=60)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def _plain(value: float | None, digits: int = 1) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _interval(interval: Sequence[float] | None) -> str:
    return "-" if interval is None else f"[{score(interval[0])}, {score(interval[1])}]"


def _p(value: float | None) -> str:
    if value is None:
        return "-"
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _wrapped(text: str, indent: str, first: str | None = None) -> Iterator[str]:
    opening = indent if first is None else first
    yield from wrap(text, WIDTH, initial_indent=opening, subsequent_indent=" " * len(opening))
