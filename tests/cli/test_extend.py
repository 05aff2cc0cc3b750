"""`weigh ladder --extend`: entrants and blocks go into the run that is there, and nothing there changes."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.cli.runner import config, weigh
from weigh.harness.errors import StoreRefused
from weigh.harness.store.store import Store

ORDER = """\
seed = 3
baselines = false
[games.goofspiel]
seats = 3
cards = 4
{blocks}
[entrants]
"""
FIRST = {"match": "match", "hoard": "hoard", "random": "random"}


def lay(folder: Path, entrants: dict[str, str], blocks: int | None = 2) -> Path:
    text = ORDER.format(blocks=f"blocks = {blocks}" if blocks else "")
    return config(folder, text + "".join(f'{name} = "{word}"\n' for name, word in entrants.items()))


def records(folder: Path) -> list[str]:
    with Store.open(folder / "results" / "s", readonly=True) as store:
        return [record.comparable() for record in store.records()]


def test_an_entrant_is_added_and_everything_there_stays_as_it_is(tmp_path):
    order = lay(tmp_path, FIRST)
    weigh("ladder", order)
    before = records(tmp_path)
    lay(tmp_path, {**FIRST, "wild": "random"})
    said = weigh("ladder", order, "--extend")
    assert said.code == 0
    assert "weigh: the run is extended: added: wild; goofspiel: 6 new blocks" in said.err
    assert "24 episodes in 8 blocks of 3 rows, 4 entrants at 3 seats, extended for another field" in said.err
    after = records(tmp_path)
    assert after[: len(before)] == before
    assert len(after) == 24
    verified = weigh("verify", tmp_path / "results" / "s")
    assert (verified.code, verified.err) == (0, "")


def test_an_extended_run_goes_on_by_the_same_command_with_and_without_the_option(tmp_path):
    order = lay(tmp_path, FIRST)
    weigh("ladder", order)
    lay(tmp_path, {**FIRST, "wild": "random"})
    assert weigh("ladder", order, "--extend", "--max-seconds", "0.000001").code == 4
    with Store.open(tmp_path / "results" / "s", readonly=True) as store:
        assert (len(store.manifest.amendments), len(store.finished())) == (1, 6)
    again = weigh("ladder", order, "--extend", "--max-seconds", "0.000001")
    assert (again.code, "nothing to extend: the config is the run's own" in again.err) == (4, True)
    assert weigh("ladder", order).code == 0
    assert len(records(tmp_path)) == 24
    with Store.open(tmp_path / "results" / "s", readonly=True) as store:
        assert (store.status, len(store.manifest.amendments)) == ("finished", 1)


def test_what_is_written_at_an_extension_is_written_at_once_or_not_at_all(tmp_path, monkeypatch):
    order = lay(tmp_path, FIRST)
    weigh("ladder", order)
    lay(tmp_path, {**FIRST, "wild": "random"})
    amend = Store.amend

    def torn(self, manifest, episodes):
        def broken():
            yield from list(episodes)[:5]
            raise RuntimeError("torn in the midst")

        amend(self, manifest, broken())

    with monkeypatch.context() as patched:
        patched.setattr(Store, "amend", torn)
        assert weigh("ladder", order, "--extend").code == 4
    with Store.open(tmp_path / "results" / "s", readonly=True) as store:
        assert (store.manifest.amendments, len(list(store.episodes())), store.status) == ((), 6, "finished")
    assert weigh("ladder", order, "--extend").code == 0
    assert len(records(tmp_path)) == 24


def test_an_extended_run_that_was_never_played_on_is_not_finished(tmp_path):
    order = lay(tmp_path, FIRST)
    weigh("ladder", order)
    with Store.open(tmp_path / "results" / "s") as store:
        more = [next(iter(store.episodes()))]
        with pytest.raises(StoreRefused, match="already planned"):
            store.amend(store.manifest, more)
        assert store.status == "finished"
        store.amend(store.manifest, [])
        assert store.status == "interrupted"


def test_without_the_option_an_added_entrant_is_refused_and_the_option_named(tmp_path):
    order = lay(tmp_path, FIRST)
    weigh("ladder", order)
    lay(tmp_path, {**FIRST, "wild": "random"})
    said = weigh("ladder", order)
    assert (said.code, said.out) == (2, "")
    assert said.err.splitlines()[-1] == (
        "weigh: --extend would keep what is there and go on with it (added: wild; goofspiel: 6 new blocks)"
    )
    lay(tmp_path, {**FIRST, "wild": "random"}).write_text(order.read_text().replace("cards = 4", "cards = 5"))
    said = weigh("ladder", order)
    assert (said.code, "--extend" in said.err) == (2, False)


def test_what_else_differs_is_refused_by_name_and_nothing_is_written(tmp_path):
    order = lay(tmp_path, FIRST)
    weigh("ladder", order)
    before = (tmp_path / "results" / "s" / "run.sqlite").read_bytes()
    lay(tmp_path, {**FIRST, "wild": "random"}).write_text(order.read_text().replace("cards = 4", "cards = 5"))
    said = weigh("ladder", order, "--extend")
    assert (said.code, said.out) == (2, "")
    folder = tmp_path / "results" / "s"
    assert said.err.splitlines() == [
        f"weigh: {folder} cannot be extended to this config; give it a name of its own (--name), or fix:",
        "weigh:   games.goofspiel.config.cards: 4 in the run, 5 in the config",
        "weigh:   games.goofspiel.config.max_rounds: 4 in the run, 5 in the config",
    ]
    assert (tmp_path / "results" / "s" / "run.sqlite").read_bytes() == before


def test_a_run_that_is_not_there_cannot_be_extended(tmp_path):
    weigh("ladder", lay(tmp_path, FIRST), "--extend").refused("holds no run to extend; without --extend this config")
    assert not (tmp_path / "results").exists()


def test_blocks_that_the_config_asks_for_are_added_instead_and_go_on_with_the_design(tmp_path):
    order = lay(tmp_path, FIRST, 2)
    weigh("ladder", order)
    lay(tmp_path, FIRST, 5)
    said = weigh("ladder", order, "--extend")
    assert "the run is extended: goofspiel: 3 new blocks" in said.err
    assert "15 episodes in 5 blocks of 3 rows, 3 entrants at 3 seats, full table" in said.err
    extended = records(tmp_path)
    weigh("ladder", order, "--name", "s2")
    with Store.open(tmp_path / "results" / "s2", readonly=True) as store:
        assert [record.comparable() for record in store.records()] == extended
    assert weigh("verify", tmp_path / "results" / "s").code == 0


def test_an_entrant_leaves_after_its_last_episode_and_its_records_stay(tmp_path):
    field = {**FIRST, "wild": "random"}
    order = lay(tmp_path, field, 4)
    assert weigh("ladder", order, "--max-seconds", "0.000001").code == 4
    lay(tmp_path, FIRST, 4)
    said = weigh("ladder", order, "--extend")
    assert (said.code, said.out) == (2, "")
    assert "entrants.wild: cannot leave before its planned episodes are finished, and 9 are not: put it" in said.err
    lay(tmp_path, field, 4)
    assert weigh("ladder", order).code == 0
    lay(tmp_path, FIRST, 4)
    assert "the run is extended: withdrawn: wild" in weigh("ladder", order, "--extend").err
    lay(tmp_path, FIRST, 6)
    assert weigh("ladder", order, "--extend").code == 0
    assert weigh("ladder", order).code == 0
    assert weigh("verify", tmp_path / "results" / "s").code == 0
    with Store.open(tmp_path / "results" / "s", readonly=True) as store:
        played = [record.entrants for record in store.records()]
        assert store.manifest.schedules["goofspiel"]["entrants"] == ["hoard", "match", "random", "wild"]
    assert len(played) == 18
    assert sum("wild" in entrants for entrants in played) == 9
    assert not any("wild" in entrants for entrants in played[12:])


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("UPDATE seats SET entrant = 'match' WHERE entrant = 'wild'", "the schedule"),
        (
            "UPDATE meta SET value = replace(value, '\"seed\":3', '\"seed\":4')",
            "the schedule of goofspiel is not the one",
        ),
        (
            "UPDATE meta SET value = replace(value, '\"goofspiel\":6', '\"goofspiel\":5')",
            "the blocks of goofspiel are not",
        ),
        ("UPDATE meta SET value = replace(value, '\"most\":6', '\"most\":7')", "schedules.goofspiel."),
        (
            "UPDATE meta SET value = replace(value, '\"episodes\":6,', '\"episodes\":9,')",
            "the schedule before amendments[0]",
        ),
    ],
)
def test_verify_makes_an_extended_schedule_again_and_finds_what_was_touched(tmp_path, statement, what):
    order = lay(tmp_path, FIRST)
    weigh("ladder", order)
    lay(tmp_path, {**FIRST, "wild": "random"})
    weigh("ladder", order, "--extend")
    db = sqlite3.connect(tmp_path / "results" / "s" / "run.sqlite", isolation_level=None)
    assert db.execute(statement).rowcount > 0
    db.close()
    said = weigh("verify", tmp_path / "results" / "s")
    assert said.code == 1
    assert what in said.out + said.err


def test_a_run_keeps_how_balanced_its_schedule_is(tmp_path):
    weigh("ladder", lay(tmp_path, FIRST))
    with Store.open(tmp_path / "results" / "s", readonly=True) as store:
        kept = store.manifest.schedules["goofspiel"]
    assert (kept["design"], kept["exact"], kept["cycle"], kept["balanced"]) == ("full table", True, 1, True)
    assert kept["pair_meetings"] == kept["episodes_by_seat"] == kept["neighbours"] == {"fewest": 2, "most": 2}
    assert kept["meetings"]["match"] == {"hoard": 2, "random": 2}


def test_a_baseline_does_not_leave_because_an_entrant_plays_its_policy(tmp_path):
    order = config(tmp_path, ORDER.format(blocks="blocks = 2").replace("baselines = false", "baselines = true"))
    assert weigh("ladder", order).code == 0
    config(tmp_path, order.read_text() + 'n = "hoard"\n')
    said = weigh("ladder", order, "--extend")
    assert said.code == 2
    assert "entrants.hoard: would leave, since n plays the same policy" in said.err
    assert "--extend would" not in weigh("ladder", order).err
    config(tmp_path, order.read_text() + 'hoard = "hoard"\n')
    assert "the run is extended: added: n; goofspiel: " in weigh("ladder", order, "--extend").err


def test_the_balance_of_an_extended_run_is_of_those_who_stay(tmp_path):
    order = lay(tmp_path, {**FIRST, "wild": "random"}, 4)
    weigh("ladder", order)
    lay(tmp_path, {**FIRST, "tame": "match"}, 8)
    said = weigh("ladder", order, "--extend")
    assert said.code == 0, said
    assert "8 blocks of 3 rows, 4 entrants at 3 seats, extended for another field" in said.err
    assert "withdrawn, and not counted in this balance: wild" in said.err
    (line,) = [line for line in said.err.splitlines() if "blocks in which a pair meets" in line]
    assert "meets: 0" not in line


def test_the_plan_of_an_extension_is_of_what_it_adds(tmp_path):
    order = lay(tmp_path, FIRST)
    weigh("plan", order, "--extend").refused(kind="no-run")
    weigh("ladder", order)
    lay(tmp_path, {**FIRST, "wild": "random"})
    before = (tmp_path / "results" / "s" / "run.sqlite").read_bytes()
    plain = weigh("plan", order)
    assert "`weigh ladder --extend` would keep it and go on (added: wild;" in " ".join(plain.out.split())
    made = weigh("plan", order, "--extend", "--json").json
    assert made["existing"]["extension"] == ["added: wild", "goofspiel: 6 new blocks"]
    assert (made["existing"]["differs"], made["existing"]["finished"]) == ([], 6)
    assert (made["episodes"], made["episodes_left"]) == (24, 18)
    assert "--extend adds to it: added: wild; goofspiel: 6 new blocks" in weigh("plan", order, "--extend").out
    assert (tmp_path / "results" / "s" / "run.sqlite").read_bytes() == before
    other = config(tmp_path, order.read_text(), "other.toml")
    named = weigh("plan", other, "--name", "s", "--results", tmp_path / "results", "--seed", 3, "--extend", "--json")
    assert named.json["games"] == made["games"]
    assert weigh("plan", other, "--name", "s", "--seed", 4, "--extend").code == 2
    lay(tmp_path, {"match": "match", "hoard": "hoard", "wild": "random"}).write_text(
        order.read_text().replace("cards = 4", "cards = 5")
    )
    assert "games.goofspiel.config.cards: 4 in the run, 5 in" in weigh("plan", order, "--extend").err
    weigh("plan", tmp_path / "results" / "s", "--extend").refused("--extend: only with a config")
