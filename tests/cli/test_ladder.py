"""`weigh ladder` with scripted policies: played, gone on with, refused."""

from __future__ import annotations

import os
import shutil

import pytest

from tests.cli.runner import SCRIPTED, config, documents, weigh
from weigh.harness.store.store import Store


def test_a_ladder_is_played_kept_and_ranked_and_each_next_step_is_said(tmp_path):
    order = config(tmp_path)
    said = weigh("ladder", order)
    folder = tmp_path / "results" / "s"
    assert said.code == 0
    assert said.out == weigh("rank", folder).out
    lines = said.err.splitlines()
    assert lines[0].startswith("python 3.")  # c19: the versions, before anything else
    assert "anthropic 2." in lines[0]
    assert "openai 3." in lines[0]
    assert lines[1] == "goofspiel: 6 episodes in 2 blocks of 3 rows, 3 entrants at 3 seats, full table"
    assert lines[3] == "s: seed 3, 6 episodes (goofspiel 6)"
    assert [line.split()[0] for line in lines[5:11]] == [f"[{n}/6]" for n in range(1, 7)]
    assert lines[-1] == f"kept in {folder}; `weigh verify {folder}` recomputes every record"
    with Store.open(folder, readonly=True) as store:
        assert store.status == "finished"


def test_the_same_command_again_has_nothing_to_play_and_ranks(tmp_path):
    order = config(tmp_path)
    first, again = weigh("ladder", order), weigh("ladder", order)
    assert again.out == first.out
    assert "6 already finished" in again.err
    assert "[1/6]" not in again.err


def test_json_is_the_ranking_and_nothing_else(tmp_path):
    order = config(tmp_path)
    said = weigh("ladder", order, "--json")
    assert (said.code, said.err) == (0, "")
    assert said.json == weigh("rank", tmp_path / "results" / "s", "--json").json


def test_another_config_is_refused_with_each_difference_and_how_to_go_on(tmp_path):
    order = config(tmp_path)
    weigh("ladder", order)
    before = (tmp_path / "results" / "s" / "run.sqlite").read_bytes()
    config(tmp_path, SCRIPTED.replace("cards = 4", "cards = 5").replace("seed = 3", "seed = 4"))
    said = weigh("ladder", order)
    assert (said.code, said.out) == (2, "")
    lines = said.err.splitlines()
    assert "holds a run made under another config; give this one a name of its own (--name), or put back:" in lines[0]
    assert "weigh:   seed: 3 in the run, 4 in the config" in lines
    assert "weigh:   games.goofspiel.config.cards: 4 in the run, 5 in the config" in lines
    assert (tmp_path / "results" / "s" / "run.sqlite").read_bytes() == before


def test_settings_that_change_no_record_may_be_changed(tmp_path):
    order = config(tmp_path)
    assert weigh("ladder", order, "--max-seconds", "0.000001").code == 4
    config(tmp_path, SCRIPTED + "[limits]\nepisodes_in_flight = 2\nmax_calls = 5\n[rank]\nmax_fallback_rate = 0.5\n")
    said = weigh("ladder", order)
    assert said.code == 0
    assert weigh("rank", tmp_path / "results" / "s", "--json").json["games"][0]["episodes"] == 6


def test_options_take_the_place_of_the_configs_values(tmp_path):
    order = config(tmp_path)
    said = weigh("ladder", order, "--seed", 0, "--name", "zero", "--results", tmp_path / "elsewhere")
    assert said.code == 0
    assert "zero: seed 0, " in said.err  # o23: the seed in force is told, and 0 is one
    with Store.open(tmp_path / "elsewhere" / "zero", readonly=True) as store:
        assert store.manifest.seed == 0
    assert not (tmp_path / "results").exists()


def test_a_limit_stops_the_run_with_exit_code_4_and_says_how_to_go_on(tmp_path):
    order = config(tmp_path)
    said = weigh("ladder", order, "--max-seconds", "0.000001")
    assert said.code == 4
    assert "stopped: 0 of 6 episodes finished" in said.err
    assert "seconds are used up (limits.max_seconds)" in said.err
    assert f"go on with: weigh ladder {order} --max-seconds 0.000001" in said.err
    assert said.err.splitlines()[-1] == "weigh: no episode was finished, so nothing is ranked"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ["games: missing"]),
        (SCRIPTED + "temprature = 0\n", ["s.toml:6: games.goofspiel.temprature: unknown key"]),
        ("sede = 1\n" + SCRIPTED, ["sede", "did you mean 'seed'"]),
        (SCRIPTED.replace("seed = 3", "seed = [42]"), ["s.toml:1: seed", "[42]"]),
        (SCRIPTED.replace("seed = 3", 'seed = "3"'), ["s.toml:1: seed", '"3"']),
        (SCRIPTED + "[limits]\ndecision_timeout = inf\n", ["s.toml:7: limits.decision_timeout"]),
        (SCRIPTED + "[limits]\ndecision_timeout = 0\n", ["limits.decision_timeout: must be above 0.0, not 0"]),
        (SCRIPTED.replace("seats = 3", "seats = 9"), ["games.goofspiel", "9"]),
        (SCRIPTED + "[games.goofspiel]\n", ["s.toml:6: not valid TOML", "for the second time"]),
    ],
)
def test_a_config_that_is_wrong_is_told_by_line_and_key_and_makes_nothing(tmp_path, text, parts):
    order = config(tmp_path, text)
    said = weigh("ladder", order)
    assert (said.code, said.out) == (2, "")
    assert all(line.startswith("weigh: ") for line in said.err.splitlines())
    for part in parts:
        assert part in said.err
    assert documents(tmp_path) == [order]


def test_c04_every_unknown_key_is_named_at_once(tmp_path):
    said = weigh("ladder", config(tmp_path, "sede = 1\n[limit]\n" + SCRIPTED.partition("\n")[2] + "crads = 3\n"))
    assert said.code == 2
    assert len(said.err.splitlines()) == 3
    for key in ("sede", "limit", "crads"):
        assert key in said.err


def test_c23_a_config_with_a_mark_and_windows_line_ends_is_read_as_utf_8(tmp_path):
    order = tmp_path / "s.toml"
    order.write_bytes(b"\xef\xbb\xbf" + ("# größer\n" + SCRIPTED).replace("\n", "\r\n").encode())
    assert weigh("ladder", order).code == 0
    plain = weigh("rank", tmp_path / "results" / "s", "--json").json
    other = config(tmp_path, SCRIPTED, "plain.toml")
    assert weigh("ladder", other, "--json").json == plain


def test_what_is_no_utf_8_is_named_by_line(tmp_path):
    order = tmp_path / "s.toml"
    order.write_bytes(SCRIPTED.encode() + b'name = "\xe4"\n')
    weigh("ladder", order).refused("s.toml:6: not UTF-8 text (byte 0xe4)")


def test_entrants_with_names_of_any_length_and_kind_are_played_or_refused_by_rule(tmp_path):
    longest = "n" * 40
    order = config(tmp_path, SCRIPTED + f'[entrants]\n{longest} = "match"\n"a.b" = "random"\n')
    assert weigh("ladder", order).code == 0
    assert longest in weigh("rank", tmp_path / "results" / "s").out
    for name in ("n" * 41, "größer", "", "a b"):
        config(tmp_path, SCRIPTED + f'[entrants]\n"{name}" = "match"\n')
        weigh("ladder", order, "--name", "other").refused("cannot name an entrant")


@pytest.mark.parametrize("name", ["nan", "NaN", "NULL", "None", "NA"])
def test_a_name_that_readers_of_csv_take_for_a_missing_value_is_refused(tmp_path, name):
    order = config(tmp_path, SCRIPTED + f'[entrants]\n{name} = "match"\n')
    weigh("ladder", order).refused(f'"{name}" cannot name an entrant: readers of CSV take the word for a missing value')
    assert not (tmp_path / "results").exists()


def test_a_folder_that_cannot_be_written_is_told_before_anything(tmp_path):
    order = config(tmp_path)
    (tmp_path / "results").write_text("a file", encoding="utf-8")
    weigh("ladder", order).refused("cannot be a run's folder", "results is no folder")
    (tmp_path / "results").unlink()
    weigh("ladder", order, "--results", "/proc/nowhere").refused("/proc")
    weigh("ladder", order, "--results", tmp_path / ("x" * 300)).refused("cannot be a run's folder")


def test_a_run_in_a_read_only_folder_can_be_ranked_and_is_not_gone_on_with(tmp_path, monkeypatch):
    order = config(tmp_path)
    weigh("ladder", order)
    folder = tmp_path / "results"
    before = weigh("rank", folder / "s")
    # Rights mean nothing to root, so what the system would answer is put in its place.
    monkeypatch.setattr(os, "access", lambda place, mode: not mode & os.W_OK)
    said = weigh("ladder", order, "--name", "another")
    said.refused(f"{folder / 'another'}: {folder} cannot be written to; choose another folder")
    assert weigh("rank", folder / "s") == before


def test_a_run_whose_files_may_not_be_written_is_told_as_that(tmp_path, monkeypatch):
    order = config(tmp_path)
    weigh("ladder", order)
    opens = os.open

    def denied(path, flags, *more, **settings):
        if str(path).endswith("run.lock") and flags & os.O_RDWR:
            raise PermissionError(13, "Permission denied", str(path))
        return opens(path, flags, *more, **settings)

    monkeypatch.setattr(os, "open", denied)
    weigh("ladder", order).refused("run.lock: it cannot be written (Permission denied); check the rights on the folder")
    assert weigh("rank", tmp_path / "results" / "s").code == 0


def test_a_path_that_may_not_be_read_is_bad_input(tmp_path, monkeypatch):
    def denied(folder, readonly=False):
        raise PermissionError(13, "Permission denied", str(folder))

    monkeypatch.setattr(Store, "open", denied)
    weigh("rank", tmp_path).refused(f"{tmp_path}: Permission denied", kind="path")


def test_a_run_that_somebody_else_writes_is_left_alone(tmp_path):
    order = config(tmp_path)
    weigh("ladder", order, "--max-seconds", "0.000001")
    with Store.open(tmp_path / "results" / "s"):
        weigh("ladder", order).refused("is being written by another process", "wait until it has ended")


def test_results_that_vanish_in_the_midst_stop_the_run(tmp_path, monkeypatch):
    order = config(tmp_path, SCRIPTED + "[limits]\nepisodes_in_flight = 1\n")
    kept = Store.add_record

    def add_record(self, record):
        kept(self, record)
        shutil.rmtree(tmp_path / "results", ignore_errors=True)

    monkeypatch.setattr(Store, "add_record", add_record)
    said = weigh("ladder", order)
    assert (said.code, said.out) == (4, "")
    assert said.err.splitlines()[-1].endswith(
        "was deleted or moved while the run was going on; nothing more can be kept"
    )
    assert "[2/6]" not in said.err
    assert not (tmp_path / "results").exists()


def test_a_bug_in_the_midst_leaves_a_run_that_goes_on(tmp_path, monkeypatch):
    order = config(tmp_path, SCRIPTED + "[limits]\nepisodes_in_flight = 1\n")
    kept = Store.add_record
    count = iter(range(100))

    def add_record(self, record):
        if next(count) == 2:
            raise RuntimeError("a bug")
        kept(self, record)

    with monkeypatch.context() as patched:
        patched.setattr(Store, "add_record", add_record)
        said = weigh("ladder", order)
    assert said.code == 4
    assert "weigh: internal error: RuntimeError: a bug" in said.err
    with Store.open(tmp_path / "results" / "s", readonly=True) as store:
        assert (store.status, len(store.finished())) == ("stopped: RuntimeError", 2)
    assert weigh("ladder", order).code == 0
    assert weigh("verify", tmp_path / "results" / "s").code == 0
