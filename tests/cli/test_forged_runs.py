"""A run that does not hold what it planned: `weigh verify` names the piece, and nothing ranks over it."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.runner import config, weigh
from weigh.harness.errors import StoreRefused
from weigh.harness.results import load
from weigh.harness.store.manifest import Manifest, schedule_digest
from weigh.harness.store.store import Store

GAME = "goofspiel"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ladder of six episodes, b0000/r0 to b0001/r2."""
    folder = tmp_path_factory.mktemp("runs")
    assert weigh("ladder", config(folder)).code == 0
    return folder


@pytest.fixture
def run(played: Path, tmp_path: Path) -> Path:
    shutil.copytree(played, tmp_path / "home")
    return tmp_path / "home" / "results" / "s"


def change(run: Path, *statements: str) -> None:
    db = sqlite3.connect(run / "run.sqlite", isolation_level=None)
    for statement in statements:
        assert db.execute(statement).rowcount > 0, statement
    db.close()


def copied(run: Path, source: str, key: str, deal_key: str | None) -> None:
    """The finished episode `source`, once more under `key`."""
    db = sqlite3.connect(run / "run.sqlite", isolation_level=None)
    number, block, body, times = db.execute(
        "SELECT e.id, e.block, r.body, r.times FROM episodes e JOIN records r ON r.episode = e.id WHERE e.key = ?",
        (source,),
    ).fetchone()
    data = json.loads(body) | {"key": key}
    new = db.execute(
        "INSERT INTO episodes(key, block, game, deal_key) VALUES (?, ?, ?, ?)", (key, block, GAME, deal_key)
    ).lastrowid
    db.execute("INSERT INTO records VALUES (?, ?, ?)", (new, json.dumps(data), times))
    db.execute("INSERT INTO seats SELECT ?, seat, entrant, score FROM seats WHERE episode = ?", (new, number))
    db.close()


def ordered(run: Path, how: Callable[[dict[str, object]], object]) -> None:
    """Another manifest, whose schedule is what is planned now, and which `how` changes further."""
    with Store.open(run, readonly=True) as store:
        planned = [row for row in store.episodes() if row.deal_key]
        data = store.manifest.model_dump(mode="json")
    data |= {"schedule": schedule_digest(planned), "episodes": len(planned)}
    how(data)
    Manifest.model_validate(data)
    db = sqlite3.connect(run / "run.sqlite", isolation_level=None)
    db.execute("UPDATE meta SET value = ? WHERE name = 'manifest'", (json.dumps(data),))
    db.close()


def invented(run: Path) -> None:
    copied(run, f"{GAME}/b0000/r0", f"{GAME}/b0009/r0", None)


def invented_in_the_plan(run: Path) -> None:
    copied(run, f"{GAME}/b0000/r0", f"{GAME}/b0000/r3", f"{GAME}/b0000")


def invented_and_ordered(run: Path) -> None:
    invented_in_the_plan(run)
    ordered(run, lambda data: None)


def invented_and_called_no_ladder(run: Path) -> None:
    invented_in_the_plan(run)
    ordered(run, lambda data: data["config"].update(note="a friend's"))  # type: ignore[attr-defined]


def invented_without_an_order(run: Path) -> None:
    """A manifest that says that nothing was planned, and rows that say so too."""
    change(run, "UPDATE episodes SET deal_key = NULL")
    ordered(run, lambda data: None)


def dropped(run: Path) -> None:
    change(
        run,
        "DELETE FROM records WHERE episode = 2",
        "UPDATE seats SET score = NULL WHERE episode = 2",
    )


def dropped_with_its_row(run: Path) -> None:
    change(run, *(f"DELETE FROM {table} WHERE episode = 2" for table in ("records", "seats")))
    change(run, "DELETE FROM episodes WHERE id = 2")


def dropped_and_ordered(run: Path) -> None:
    dropped_with_its_row(run)
    ordered(run, lambda data: None)


def dropped_game(run: Path) -> None:
    change(run, *(f"DELETE FROM {table}" for table in ("records", "seats", "episodes")))
    copied_from = "INSERT INTO episodes(key, block, game, deal_key) VALUES ('x/play', 'x/play', 'x', 'x/play')"
    change(run, copied_from)
    ordered(run, lambda data: None)


def unplanned(run: Path) -> None:
    change(run, "UPDATE episodes SET deal_key = NULL WHERE id = 2")


def blank_deal(run: Path) -> None:
    change(run, "UPDATE episodes SET deal_key = '' WHERE id = 2")


def another_record(run: Path) -> None:
    change(run, "UPDATE records SET body = (SELECT body FROM records WHERE episode = 1) WHERE episode = 2")


def names_exchanged(run: Path) -> None:
    change(
        run,
        "UPDATE records SET body = json_set(body, '$.entrants[0]', json_extract(body, '$.entrants[1]'), "
        "'$.entrants[1]', json_extract(body, '$.entrants[0]')) WHERE episode = 2",
    )


def scores_beside_the_record(run: Path) -> None:
    change(run, "UPDATE seats SET score = 1.0 WHERE episode = 2 AND seat = 0")


FORGED = {
    invented: "goofspiel/b0009/r0: the episode was never planned",
    invented_in_the_plan: "the schedule is not the one of the manifest",
    invented_and_ordered: "goofspiel/b0000/r3: the schedule of goofspiel is not the one that its order",
    invented_and_called_no_ladder: "config is of none of the runs that can be planned again",
    invented_without_an_order: "goofspiel/b0000/r0: the episode was never planned",
    dropped: "goofspiel/b0000/r1: the record is missing",
    dropped_with_its_row: "episodes are not as many as the manifest says",
    dropped_and_ordered: "goofspiel/b0000/r2: the schedule of goofspiel is not the one that its order",
    dropped_game: "the blocks of goofspiel are not as many as the config orders",
    unplanned: "goofspiel/b0000/r1: the episode was never planned",
    blank_deal: "goofspiel/b0000/r1: the episode was never planned",
    another_record: "goofspiel/b0000/r1: the record is not of the episode it is kept under",
    names_exchanged: "goofspiel/b0000/r1: the record is not of the episode it is kept under",
    scores_beside_the_record: "goofspiel/b0000/r1: the record is not of the episode it is kept under",
}


@pytest.mark.parametrize("forge", FORGED, ids=lambda forge: forge.__name__)
def test_verify_names_the_piece_and_whatever_ranks_refuses(run: Path, forge: Callable[[Path], None]) -> None:
    forge(run)
    said = weigh("verify", run)
    assert said.code == 1
    assert any(line.startswith(FORGED[forge]) for line in said.out.splitlines()), said.out
    for words in (
        ("rank", run),
        ("rank", run, "--json", "--head-to-head"),
        ("report", run, "-o", "-"),
        ("audit", run),
        ("plan", run),
        ("export", run, run.parent / "m.csv", "--dataset", "measures"),
    ):
        weigh(*words).refused(str(run), "does not hold what it planned", "`weigh verify`")
    assert not (run.parent / "m.csv").exists()
    with pytest.raises(StoreRefused, match="does not hold what it planned"):
        _ = load(run).ladder
    with pytest.raises(StoreRefused, match="does not hold what it planned"):
        _ = load(run).measures


@pytest.mark.parametrize("forge", [invented, another_record, names_exchanged], ids=lambda forge: forge.__name__)
@pytest.mark.parametrize("words", [(), ("--extend",)], ids=["resumed", "extended"])
def test_a_forged_run_is_not_gone_on_with(run: Path, forge: Callable[[Path], None], words: tuple[str, ...]) -> None:
    forge(run)
    before = (run / "run.sqlite").read_bytes()
    weigh("ladder", run.parents[1] / "s.toml", *words).refused("does not hold what it planned")
    assert (run / "run.sqlite").read_bytes() == before


def test_what_is_missing_is_played_by_the_command_that_made_the_run(run: Path) -> None:
    whole = weigh("rank", run, "--json").json
    dropped(run)
    refused = weigh("rank", run).refused("b0000/r1", "is missing")
    assert "the command that made the run plays what is missing" in refused
    assert weigh("ladder", run.parents[1] / "s.toml").code == 0
    assert weigh("verify", run).code == 0
    again = weigh("rank", run, "--json").json
    assert again["games"][0]["standings"] == whole["games"][0]["standings"]


def test_before_the_end_missing_episodes_are_counted_and_no_finding(run: Path) -> None:
    dropped(run)
    change(run, "UPDATE meta SET value = 'interrupted' WHERE name = 'status'")
    assert weigh("verify", run).code == 0
    said = weigh("rank", run)
    assert said.code == 0
    assert "5 of 6 episodes" in said.out


def test_a_void_episode_of_a_finished_run_is_not_missing(run: Path) -> None:
    dropped(run)
    change(run, "INSERT INTO voids(episode, step, seats, cause) VALUES (2, 0, '[0]', '503')")
    assert weigh("verify", run).code == 0
    assert weigh("rank", run).code == 0


def test_rows_that_belong_to_no_episode_are_found(run: Path) -> None:
    change(run, "INSERT INTO voids(episode, step, seats, cause) VALUES (99, 0, '[0]', '503')")
    said = weigh("verify", run)
    assert (said.code, said.out) == (1, "the file is damaged: a row of voids belongs to no episode\n")


# -- runs of other commands ------------------------------------------------------------------------------------------


def weighed(folder: Path, monkeypatch: pytest.MonkeyPatch, *words: object) -> None:
    monkeypatch.chdir(folder)
    assert weigh(*words).code in (0, 3), words


def test_one_episode_more_than_was_played_by_hand_is_found(tmp_path: Path) -> None:
    run = tmp_path / "one"
    assert weigh("play", GAME, "match", "hoard", "--set", "cards=4", "--set", "seats=2", "--save", run).code == 0
    assert weigh("verify", run).code == 0
    copied(run, f"{GAME}/play", f"{GAME}/play2", f"{GAME}/play2")
    ordered(run, lambda data: data["config"]["games"][GAME].update(blocks=1))  # type: ignore[index]
    assert "goofspiel/play2: the schedule of goofspiel" in weigh("verify", run).out
    weigh("rank", run).refused("goofspiel/play2")


def test_an_experiment_is_planned_again(tmp_path: Path) -> None:
    order = config(tmp_path, "seed = 3\n[games.ballast]\nblocks = 2\n")
    asked = ("--claimer", "feint", "--listener", "steady", "--blocks", "2")
    assert weigh("experiment", "ballast-claims", order, *asked, "--json").code in (0, 3)
    run = tmp_path / "results" / "s-claims"
    assert weigh("verify", run).code == 0
    change(run, "UPDATE episodes SET deal_key = 'ballast/p0007/s0' WHERE id = 1")
    ordered(run, lambda data: None)
    assert "ballast/normal/p0000/s0: the schedule of ballast is not the one" in weigh("verify", run).out
    # Only what a listener is asked again may lie under keys of its own, and nothing is finished there.
    change(run, "UPDATE episodes SET key = 'ballast/listening/control/p0000/s0', deal_key = NULL WHERE id = 1")
    ordered(run, lambda data: None)
    assert "ballast/listening/control/p0000/s0: the episode was never planned" in weigh("verify", run).out


COMPARED = ("compare", "match", "hoard", "--game", GAME, "--set", "cards=4", "--name", "cmp")


def test_an_arm_that_lacks_a_record_before_its_last_is_found_and_plays_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weighed(tmp_path, monkeypatch, *COMPARED, "--blocks", "6")
    arms = sorted((tmp_path / "results" / "cmp").iterdir())
    assert [weigh("verify", arm).code for arm in arms] == [0, 0]
    dropped(arms[0])
    assert "goofspiel/b0000/r1: the record is missing" in weigh("verify", arms[0]).out
    weighed(tmp_path, monkeypatch, *COMPARED, "--blocks", "6")
    assert weigh("verify", arms[0]).code == 0


def test_an_arm_with_an_invented_episode_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weighed(tmp_path, monkeypatch, *COMPARED, "--blocks", "6")
    arm = sorted((tmp_path / "results" / "cmp").iterdir())[0]
    change(arm, "UPDATE seats SET score = -score WHERE episode = 1")
    weigh(*COMPARED, "--blocks", "6").refused(str(arm), "goofspiel/b0000/r0: the record is not of the episode")
    change(arm, "UPDATE seats SET score = -score WHERE episode = 1")
    change(arm, "UPDATE episodes SET deal_key = 'goofspiel/b0001' WHERE id = 1")
    ordered(arm, lambda data: None)
    assert "goofspiel/b0000/r0: the schedule of goofspiel is not the one" in weigh("verify", arm).out


def test_an_arm_that_was_stopped_in_blocks_nobody_asks_for_again_is_not_called_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weighed(tmp_path, monkeypatch, *COMPARED, "--blocks", "6")
    arms = sorted((tmp_path / "results" / "cmp").iterdir())
    for arm in arms:
        change(
            arm,
            "DELETE FROM records WHERE episode = 21",
            "UPDATE seats SET score = NULL WHERE episode = 21",
            "UPDATE meta SET value = 'interrupted' WHERE name = 'status'",
        )
    weighed(tmp_path, monkeypatch, *COMPARED, "--blocks", "3")
    for arm in arms:
        with Store.open(arm, readonly=True) as store:
            assert (store.status, len(store.finished())) == ("interrupted", 23)
        assert weigh("verify", arm).code == 0


def test_a_gate_that_was_clear_before_its_last_block_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weighed(
        tmp_path,
        monkeypatch,
        *("gate", "--baseline", "match", "--candidate", "match", "--game", "oshi_zumo", "--set", "coins=6"),
        *("--margin", "0.9", "--max-blocks", "200", "--name", "early"),
    )
    for arm in (tmp_path / "results" / "gate-early").iterdir():
        with Store.open(arm, readonly=True) as store:
            assert store.status == "finished"
            assert len(store.finished()) < store.manifest.episodes
        assert weigh("verify", arm).code == 0
