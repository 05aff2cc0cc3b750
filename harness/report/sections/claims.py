"""A report on claims for people: the answer, a row for each intervention, and a few labelled lines.

Owns the words. Every number comes from the document of `harness.audit.claims.answer`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any, Final

from weigh.harness.report.sections.verdict import Row, barring, in_rare_blocks, labelled
from weigh.harness.stats.paired import LOWEST
from weigh.harness.stats.power import LEVEL
from weigh.harness.stats.rare import rare_loss
from weigh.harness.words import interval, plural, score, share, shown

WIDTH: Final = 80
_NAME: Final = 24

ARMS: Final = {"mute": "hidden", "scramble": "scrambled", "force-truth": "forced true"}
"""The interventions in words."""

VERDICTS: Final = {"differs": "differs", "equivalent": "equivalent", "not_enough_evidence": "not settled"}


def lines(document: Mapping[str, Any], code: int, width: int = WIDTH, *, wide: bool = False) -> list[str]:
    """The whole report; `code` is the exit code. Sentences are at most `width` columns wide."""
    told: list[str] = []
    for direction in document["directions"]:
        told += [*([""] if told else []), *_direction(direction, document, code, width)]
        if wide:
            told += ["", *_wide(direction)]
    if not wide:
        told += labelled(
            [("more", "--wide (fallbacks, the claims, what was asked again, wins by lies)  --json")], width
        )
    return told


def _direction(found: Mapping[str, Any], document: Mapping[str, Any], code: int, width: int) -> Iterator[str]:
    claimer, listener, margin = _name(found["claimer"]), _name(found["listener"]), document["margin"]
    yield from wrap(f"{_worth(found, margin)} (exit {code})", width, subsequent_indent="  ")
    blocks = plural(document["blocks"], "block")
    yield from wrap(
        f"{claimer} claims, {listener} listens: {blocks} of two games an arm, seed {document['seed']}", width
    )
    yield ""
    contrasts = found["contrasts"]
    yield f"  {'arm':11} {'mean':>6} {'effect':>6}  {'95% CI':16} {'p (Holm)':>8}  verdict"
    if contrasts:
        yield f"  {'as played':11} {score(contrasts[0]['normal']):>6}"
    for each in contrasts:
        row = f"  {ARMS[each['arm']]:11} {score(each['altered']):>6} {score(each['difference']):>6}"
        yield f"{row}  {interval(each['interval']):16} {_p(each['p_holm']):>8}  {VERDICTS[each['verdict']]}"
    yield ""
    yield from labelled(_labels(found, document), width)


def _labels(found: Mapping[str, Any], document: Mapping[str, Any]) -> Iterator[Row]:
    claimer, listener, margin = _name(found["claimer"]), _name(found["listener"]), document["margin"]
    yield "effect", f"what {claimer} scores more as played; equivalence margin {margin:g}"
    heard = found["listening"]
    if heard is not None and heard["effect"] is not None:
        yield "listening", _listens(heard, listener)
    yield "lying", _lying({each["arm"]: each for each in found["contrasts"]}["force-truth"], claimer, margin)
    unsure = [each for each in found["contrasts"] if each["verdict"] == "differs" and not each["guaranteed"]]
    if unsure:  # as played the claimer scores more, and may lose all of it in blocks that have not shown it
        yield "rare", in_rare_blocks(rare_loss(unsure[0]["blocks"], unsure[0]["normal"] - LOWEST))
    known = [each["detectable"] for each in found["contrasts"] if each["detectable"] is not None]
    if known:
        yield "power", f"minimum detectable difference (80% power): {max(known):.3g}"
    episodes = document["episodes"]
    if episodes["finished"] < episodes["planned"]:
        yield "stopped", f"not all is played: {episodes['finished']} of {episodes['planned']} episodes are finished"
    needed = [each["blocks_needed"] for each in found["contrasts"] if each["blocks_needed"] is not None]
    if needed:
        yield "next", f"about {max(needed):,} blocks would settle all of it, were the truth as observed (--blocks)"
    yield "cost", plural(episodes["finished"], "episode")


def _worth(found: Mapping[str, Any], margin: float) -> str:
    """The answer in one sentence."""
    by_arm = {each["arm"]: each for each in found["contrasts"]}
    claimer, listener = _name(found["claimer"]), _name(found["listener"])
    telling = [by_arm[arm] for arm in ("mute", "scramble") if by_arm[arm]["verdict"] == "differs"]
    if telling:
        each = telling[0]
        worth = f"{score(each['difference'])} against {listener}, 95% CI {interval(each['interval'])}"
        how = "they are read" if each["arm"] == "mute" else "random ones in their place change the score"
        return f"{claimer}'s claims are worth {worth}: {how}{barring(each['guaranteed'])}"
    if all(by_arm[arm]["verdict"] == "equivalent" for arm in ("mute", "scramble")):
        return f"{claimer}'s claims make no difference above the equivalence margin of {margin:g}: they are decoration"
    return f"Not settled whether {claimer}'s claims count against {listener}"


def _wide(found: Mapping[str, Any]) -> Iterator[str]:
    claimer, listener = _name(found["claimer"]), _name(found["listener"])
    yield from _fallbacks(found["fallback_rates"])
    yield from _claims(found["claims"], claimer, listener)
    yield from _asked(found, claimer, listener)
    yield ""
    yield from _wins(found["wins_by_lies"], claimer)


def _fallbacks(rates: Mapping[str, float | None]) -> Iterator[str]:
    made = {arm: rate for arm, rate in rates.items() if rate}
    if made:
        parts = ", ".join(f"{arm} {share(rate)}" for arm, rate in made.items())
        yield from _wrapped(
            f"Moves by the fallback, which hears every claim and makes the arms look alike: {parts}.", "  "
        )


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
    yield _row("claims, false", f"{claims['claims']}, {share(claims['lie_rate'])}")
    yield from _rows("false by true weight", _series(claims["by_weight"], "weight"))
    yield from _rows("false by turn", _series(claims["by_turn"], "turn"))
    yield _row("of the false, refutable", share(claims["implausible_lies"]))
    yield from _wrapped(f"Challenges of {listener}", "  ")
    yield _row(
        "in games; turn, age",
        f"{share(claims['challenge_rate'])}; {_plain(claims['challenge_turn'])}, {_plain(claims['challenge_age'])}",
    )
    yield _row(
        "met a lie (precision)",
        f"{share(claims['precision'])}; a random one then {share(claims['random_challenge'])}, "
        f"lift {_plain(claims['lift'], 2)}",
    )
    yield _row("of all it could call", f"{share(claims['base_rate'])} were false")
    yield _row("lies called (recall)", share(claims["recall"]))
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
            "move changes", f"{share(heard['replaced'])} with a claim replaced, {share(heard['control'])} without"
        )
        yield _row("listening", f"{score(heard['effect'])} {interval(heard['interval'])}, p {_p(heard['p'])}")
    forced = found["forced"]
    if forced is not None and forced["placements"]:
        yield from _wrapped(f"{claimer} made to tell the truth", "  ")
        yield _row(
            "wanted to lie", f"{share(forced['wanted_lie_rate'])} of {plural(forced['placements'], 'placement')}"
        )


def _wins(split: Mapping[str, Any], claimer: str) -> Iterator[str]:
    yield from _wrapped(f"Games won by {claimer}, by its lies in the game", "  ")
    for row in split["rows"]:
        what = plural(row["lies"], "lie")
        yield _row(what, f"{share(row['win_rate'])} of {plural(row['episodes'], 'game')}")
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


def _plain(value: float | None, digits: int = 1) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _p(value: float | None) -> str:
    if value is None:
        return "-"
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _wrapped(text: str, indent: str, first: str | None = None) -> Iterator[str]:
    opening = indent if first is None else first
    yield from wrap(text, WIDTH, initial_indent=opening, subsequent_indent=" " * len(opening))
