"""A comparison as a value: its numbers by hand, its answers, exit codes and lines."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from scipy import stats

from weigh.harness.gate.compare import ArmReport, Comparison, Letter
from weigh.harness.gate.play import Taken
from weigh.harness.report.sections.comparison import comparison_lines
from weigh.harness.store.usage import Usage

BLOCKS = tuple(f"oshi_zumo/b{n:04}" for n in range(6))
A = [(0.0, -1.0), (0.5, 0.5), (1.0, 0.0), (-1.0, -1.0), (0.0, 0.0), (0.25, -0.25)]
B = [(1.0, 0.0), (0.5, 1.0), (1.0, 1.0), (0.0, -0.5), (0.5, 0.5), (0.25, 0.0)]
# Block means of B - A: 1, 0.25, 0.5, 0.75, 0.5, 0.125.
DIFFERENCES = [1.0, 0.25, 0.5, 0.75, 0.5, 0.125]


def arm(letter: Letter, scores, model=None, **more) -> ArmReport:
    given = {
        "name": letter.lower(),
        "policy": "0" * 64,
        "run": f"results/{letter}",
        "reliability": {"fallback_rate": 0.125, "retry_rate": 0.25, "cost_per_episode_usd": 0.5, "latency_p50": 1.25},
        "faults": {},
        "decisions": 40,
        "taken": Taken(Usage(answered=50, input_tokens=12_000, output_tokens=345, cost_known_usd=6.0), episodes=12),
        **more,
    }
    return ArmReport(letter=letter, scores=dict(zip(BLOCKS, scores, strict=False)), model=model, **given)


def told(a=A, b=B, again=None, **more) -> Comparison:
    given = {"game": "oshi_zumo", "config": {"coins": 50}, "seats": 2, "seed": 7, "opponents": ("match",), **more}
    return Comparison(
        blocks=BLOCKS,
        a=arm("A", a),
        b=arm("B", b),
        again=None if again is None else arm("A again", again),
        **given,
    )


def lines(comparison: Comparison, wide: bool = True) -> list[str]:
    return list(comparison_lines(comparison, 80, wide=wide))


def text(comparison: Comparison) -> str:
    return " ".join("\n".join(lines(comparison)).split())


def test_differences_and_interval_worked_by_hand_and_by_scipy():
    comparison = told()
    assert list(comparison.differences.values()) == DIFFERENCES
    found = comparison.found
    interval = stats.ttest_1samp(DIFFERENCES, 0).confidence_interval()
    assert found.mean == pytest.approx(3.125 / 6)
    assert found.interval == pytest.approx((interval.low, interval.high))
    assert found.p == 2 / 2**6  # all six are above 0: only they and their mirror image lie as far out
    assert comparison.a.mean == pytest.approx(-1.0 / 12)
    assert comparison.b.mean == pytest.approx(5.25 / 12)


@pytest.mark.parametrize(
    ("a", "b", "answer", "code"),
    [
        (A, B, "b_higher", 0),
        (B, A, "a_higher", 0),
        (A, A, "not_significant", 0),
        (A[:1], B[:1], "nothing", 3),
        (A[:4], A[:4], "nothing", 3),
        (A, [tuple(score / 2 for score in block) for block in [(0.0, 0.0)] * 6], "not_significant", 0),
        ([], [], "nothing", 3),
    ],
)
def test_the_answer_is_where_the_interval_lies(a, b, answer, code):
    comparison = told(a, b)
    assert (comparison.answer, comparison.exit_code) == (answer, code)


def test_blocks_that_all_agree_have_no_interval_and_their_signs_decide():
    half = [(0.5, 0.5)] * 6
    comparison = told([(0.0, 0.0)] * 6, half)
    assert comparison.found.p == 2 / 2**6
    assert comparison.answer == "b_higher"
    assert comparison.to_json()["difference"]["interval"] is None
    assert "  B - A  +0.500 in every block" in lines(comparison)
    five = told([(0.0, 0.0)] * 5, half[:5])
    assert five.found.p == 2 / 2**5  # more than 5 %
    assert (five.answer, five.exit_code) == ("nothing", 3)


def test_an_arm_of_fallback_moves_is_named_whatever_the_answer():
    broken = {"fallback_rate": 0.9999, "retry_rate": 1.0}
    comparison = replace(told(), b=arm("B", B, reliability=broken))
    assert comparison.notes == ("B: the fallback made >99.9% of its moves, so its score tells of the fallback",)
    assert any(line.startswith("warning ") for line in lines(comparison))
    assert told().notes == ()


def test_a_void_episode_takes_its_whole_block_and_is_counted():
    comparison = told(b=[*B[:5], (0.25, None)])
    assert comparison.found.missing == 1
    assert comparison.found.n == 5
    assert comparison.too_void  # one of six
    assert comparison.exit_code == 4
    assert "6 blocks, 1 void, against match" in text(comparison)


def test_what_was_not_played_is_told_and_never_taken_for_equal():
    comparison = replace(told(A[:5], B[:5]), stopped="the run's 40 calls are used up (limits.max_calls)")
    assert not comparison.complete
    assert comparison.exit_code == 4
    assert "5 of 6 blocks, against match" in text(comparison)
    assert "not played to its end: the run's 40 calls are used up" in text(comparison)
    assert replace(comparison, interrupted=True).exit_code == 130


def test_noise_of_exactly_zero_says_why():
    comparison = told(again=A)
    assert comparison.noiseless
    assert "A less itself 0.000 in every block: A is a script whose moves follow from what it sees" in text(comparison)
    modelled = replace(comparison, a=replace(comparison.a, model="openai:m"))
    assert "the model answered alike both times" in text(modelled)


def test_noise_is_a_less_itself_beside_the_difference():
    again = [(0.5, -1.0), *A[1:]]
    comparison = told(again=again)
    assert not comparison.noiseless
    assert comparison.aa is not None
    assert comparison.aa.mean == pytest.approx(0.25 / 6)
    assert "A less itself +0.042" in text(comparison)
    assert any(line.startswith("A/A    +0.042  ") for line in lines(comparison))


def test_noise_that_excludes_0_is_a_warning():
    comparison = told(again=B)
    assert "it does not hold 0, as happens by chance once in twenty times" in text(comparison)


def test_text_fits_into_80_columns_and_is_ascii():
    for wide in (False, True):
        shown = lines(told(again=A), wide)
        assert max(map(len, shown)) <= 80
        assert "\n".join(shown).isascii()
        assert shown[0].split("  ")[0] == "B scores more than A, barring rare failures (exit 0)"


def test_each_arm_has_its_faults_by_kind_and_what_it_took():
    comparison = told()
    comparison = replace(comparison, b=arm("B", B, faults={"truncated": 3, "illegal": 1}))
    shown = {line.split("  ")[0]: line.split()[-2:] for line in lines(comparison)}
    assert shown["faults: truncated"] == ["0", "3"]
    assert shown["faults: illegal"] == ["0", "1"]
    assert shown["fallback rate"] == ["12.5%", "12.5%"]
    assert shown["cost"] == ["$6.00", "$6.00"]
    assert shown["tokens"] == ["12k", "12k"]


def test_an_unknown_cost_is_unknown_and_never_0():
    taken = Taken(Usage(answered=50, unknown_cost_calls=50), episodes=12)
    comparison = replace(told(), a=arm("A", A, taken=taken, reliability={}))
    shown = {line.split("  ")[0]: line.split() for line in lines(comparison)}
    assert shown["cost"][-2] == "unknown"
    assert shown["cost an episode"][-2] == "-"
    assert comparison.to_json()["arms"][0]["cost_usd"] is None


def test_the_json_form_is_plain_json_with_every_block():
    document = json.loads(json.dumps(told(again=A).to_json(), allow_nan=False))
    assert document["difference"]["mean"] == pytest.approx(3.125 / 6)
    assert document["aa"]["noiseless"] is True
    assert [block["difference"] for block in document["blocks"]] == DIFFERENCES
    assert document["blocks"][0]["a"] == [0.0, -1.0]
    assert [one["arm"] for one in document["arms"]] == ["A", "B", "A again"]
    assert told().to_json()["aa"] is None


def test_names_are_shown_harmless():
    comparison = replace(told(), b=arm("B", B, name="b\x1b[2J\u202e"))
    assert "\x1b" not in "\n".join(lines(comparison))


def test_a_difference_is_guaranteed_only_where_the_betting_interval_excludes_0():
    few = told()
    assert few.answer == "b_higher"
    assert few.to_json()["higher"] == "B"
    assert few.to_json()["higher_guaranteed"] is False
    low, high = few.bounded_interval
    assert low < 0 < high
    loss = few.rare_loss
    assert (loss.blocks, loss.loss) == (6, pytest.approx(few.b.mean + 1))
    assert loss.share == pytest.approx(1 - 0.05 ** (1 / 6))
    assert "6 blocks cannot exclude a loss of 1.44 in up to 39% of blocks" in text(few)


def test_many_blocks_that_differ_much_are_guaranteed():
    keys = tuple(f"oshi_zumo/b{n:04}" for n in range(40))
    low, high = (
        replace(arm(letter, []), scores=dict.fromkeys(keys, (score,) * 2))
        for letter, score in (("A", -0.5), ("B", 0.5))
    )
    scores = {**high.scores, keys[0]: (0.4, 0.5)}
    sure = replace(told(), blocks=keys, a=low, b=replace(high, scores=scores))
    assert sure.bounded_interval[0] > 0
    assert sure.to_json()["higher_guaranteed"] is True
    assert next(iter(lines(sure))).startswith("B scores more than A (exit 0)")


def test_a_smaller_range_of_scores_makes_the_betting_interval_narrower():
    assert (
        replace(told(), lowest=-1 / 3, a=arm("A", B), b=arm("B", B)).bounded_interval[1]
        < told(B, B).bounded_interval[1]
    )
