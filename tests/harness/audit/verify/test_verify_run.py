"""A run whose records, replies, schedule or manifest were touched is told so, and which piece it was."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.harness.audit.verify.verify_cases import FILE, MODEL, NAMES, SEED, episode, new_run, play, prompted
from weigh.harness.audit.verify.record import verify_record
from weigh.harness.audit.verify.run import Verdict, verify_run
from weigh.harness.store.record import Record
from weigh.harness.store.store import Store
from weigh.harness.store.texts import pack, text_digest, unpack
from weigh.policies.contract import Message, Request, Sampling
from weigh.policies.human import HumanPolicy
from weigh.policies.layout import LAYOUT
from weigh.policies.prompted import digest_of
from weigh.policies.scripted.registry import scripted

GAMES = tuple(NAMES)


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clean") / "run"
    new_run(folder, *GAMES, blocks=2).close()
    return folder


@pytest.fixture
def run(clean: Path, tmp_path: Path) -> Path:
    shutil.copytree(clean, tmp_path / "run")
    return tmp_path / "run"


def check(folder: Path) -> Verdict:
    with Store.open(folder, readonly=True) as store:
        return verify_run(store)


def lines(folder: Path) -> list[str]:
    return [str(finding) for finding in check(folder).findings]


def change(folder: Path, statement: str, *values: object) -> None:
    db = sqlite3.connect(folder / "run.sqlite", isolation_level=None)
    assert db.execute(statement, values).rowcount > 0
    db.close()


def edit(folder: Path, key: str, how: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    db = sqlite3.connect(folder / "run.sqlite", isolation_level=None)
    where = "WHERE episode = (SELECT id FROM episodes WHERE key = ?)"
    data: dict[str, Any] = json.loads(db.execute(f"SELECT body FROM records {where}", (key,)).fetchone()[0])
    how(data)
    db.execute(f"UPDATE records SET body = ? {where}", (json.dumps(data), key))
    db.close()
    return data


def decided(folder: Path, key: str, by: str) -> tuple[int, dict[str, Any]]:
    """The first decision of an episode with this provenance, and its index."""
    with Store.open(folder, readonly=True) as store:
        record = store.record(key)
    assert record is not None
    index = next(at for at, decision in enumerate(record.decisions) if decision.by == by)
    return index, record.decisions[index].model_dump(mode="json")


KEY = "goofspiel/b0000/r0"


def test_an_untouched_run_re_derives(clean: Path) -> None:
    verdict = check(clean)
    assert verdict.ok
    assert verdict.findings == []
    assert (verdict.run_id, verdict.planned, verdict.records, verdict.voids) == ("run-run", 12, 12, 0)
    assert verdict.calls > 60


def test_a_run_under_way_re_derives_as_far_as_it_went(tmp_path: Path) -> None:
    _, more = play(episode("goofspiel", 1), models=(0, 2))
    with new_run(tmp_path / "run", "goofspiel", blocks=2, kept=3) as store:
        for call in more[:5]:
            store.add_call(call)
        verdict = verify_run(store)
    assert verdict.findings == []
    assert (verdict.planned, verdict.records) == (8, 3)


@pytest.mark.parametrize("game", GAMES)
def test_every_finding_names_its_episode_and_what_the_record_alone_shows(run: Path, game: str) -> None:
    key = f"{game}/b0001/r0"
    edit(run, key, lambda data: data["scores"].__setitem__(0, 0.75))
    assert f"{key}: scores[0] does not follow from the moves" in "\n".join(lines(run))


def test_a_consistent_record_on_another_deal_is_found_by_the_seed(run: Path) -> None:
    forged, _ = play(episode("goofspiel"), seed=99)
    assert verify_record(forged) == []
    edit(run, KEY, lambda data: data.update(json.loads(forged.comparable())))
    found = lines(run)
    assert any(line.startswith(f"{KEY}: deal is not the one that the run's seed draws") for line in found)
    assert any(line.startswith(f"{KEY}: aliases are not those that the run's seed draws") for line in found)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("key", "goofspiel/b0000/r1", "key is not the one it is kept under"),
        ("block", "goofspiel/b0009", "block is not as planned"),
        ("entrants", ["bob", "ann", "cy", "dee"], "entrants is not as planned"),
        ("policies", ["0" * 64] * 4, "policies[0] is not ann as ordered"),
        ("models", ["openai:gpt-5-mini", None, MODEL, None], "models[0] is not what ann plays by"),
        ("aliases", ["Ash", "Elm", "Fig", "Fir"], "aliases are not those that the run's seed draws"),
        ("episode_deadline", 9.5, "episode_deadline is not as ordered"),
    ],
)
def test_what_a_record_cannot_derive_is_checked_against_the_run(
    run: Path, field: str, value: object, said: str
) -> None:
    edit(run, KEY, lambda data: data.__setitem__(field, value))
    assert any(line.startswith(f"{KEY}: {said}") for line in lines(run)), lines(run)


def test_a_config_other_than_ordered_is_found(run: Path) -> None:
    other, _ = play(episode("oshi_zumo"), {"coins": 12})
    edit(run, "oshi_zumo/b0000/r0", lambda data: data.update(json.loads(other.comparable())))
    assert any(line.startswith("oshi_zumo/b0000/r0: config.coins does not") for line in lines(run)), lines(run)


def test_o07_a_record_that_counts_twice_is_found(run: Path) -> None:
    with Store.open(run, readonly=True) as store:
        first = store.record(KEY)
    assert first is not None
    edit(run, "goofspiel/b0001/r0", lambda data: data.update(json.loads(first.comparable())))
    assert any("goofspiel/b0001/r0: key is that of a second record of the same episode" in line for line in lines(run))


def test_a_move_the_model_did_not_reply_is_found(run: Path) -> None:
    """The whole record forged consistently; only the reply tells."""
    index, decision = decided(run, KEY, "model")
    step, seat = decision["step"], decision["seat"]
    with Store.open(run, readonly=True) as store:
        kept = next(
            each for each in store.calls(KEY) if (each.key.seat, each.key.step, each.key.attempt) == (seat, step, 1)
        )
    assert kept.completion is not None
    played = json.loads(kept.completion.text)["bid"]
    other = json.dumps({"bid": played % 13 + 1})
    change(run, "INSERT INTO texts(digest, body) VALUES (?, ?)", text_digest(other), pack(other))
    change(
        run,
        "UPDATE calls SET reply = (SELECT max(id) FROM texts) WHERE seat = ? AND step = ? AND attempt = 1 "
        "AND episode = (SELECT id FROM episodes WHERE key = ?)",
        seat,
        step,
        KEY,
    )
    found = lines(run)
    assert any(
        f"{KEY}: moves[{step}][{seat}] is not what ann plays" in line
        or f"{KEY}: decisions[{index}].by is not who moved" in line
        for line in found
    ), found


@pytest.mark.parametrize("game", GAMES)
def test_another_fault_than_the_reply_had_is_found(run: Path, game: str) -> None:
    with Store.open(run, readonly=True) as store:
        records = [record for record in store.records() if record.game == game]
    key = next(record.key for record in records if any(choice.by == "retry" for choice in record.decisions))
    index, decision = decided(run, key, "retry")
    other = "refused" if decision["faults"][0]["fault"] != "refused" else "empty"
    edit(run, key, lambda data: data["decisions"][index]["faults"][0].__setitem__("fault", other))
    (line,) = lines(run)
    assert line.startswith(f"{key}: decisions[{index}].faults are not what was wrong: ")


def test_a_retry_passed_off_as_a_first_answer_is_found(run: Path) -> None:
    index, _ = decided(run, KEY, "retry")
    edit(run, KEY, lambda data: data["decisions"][index].update(by="model", faults=[]))
    found = lines(run)
    (line,) = found
    assert line.startswith(f'{KEY}: decisions[{index}].by is not who moved, by the replies: "model"')


def test_a_fallback_passed_off_as_the_models_own_is_found(run: Path) -> None:
    index, decision = decided(run, KEY, "fallback")

    def forge(data: dict[str, Any]) -> None:
        data["decisions"][index].update(by="retry", faults=data["decisions"][index]["faults"][:1])
        data["fallbacks"][decision["seat"]] -= 1

    assert verify_record(Record.model_validate(edit(run, KEY, forge))) == []
    (line,) = lines(run)
    assert line.startswith(f'{KEY}: decisions[{index}].by is not who moved, by the replies: "retry"')


def test_a_fallback_move_the_fallback_does_not_play_is_found(tmp_path: Path) -> None:
    planned = episode("oshi_zumo")
    record, calls = play(planned, models=(0, 1), faults=1.0)
    other, _ = play(planned, models=(), faults=1.0)
    # The scripted moves of `other` are consistent in themselves; here they pose as the fallback's.
    count = min(len(record.moves), len(other.moves))
    assert record.moves[:count] != other.moves[:count]
    forged = other.model_dump(mode="json") | {"models": list(record.models)}
    forged["decisions"] = [
        {**each, "by": "fallback", "faults": [{"fault": "timed_out", "detail": ""}] * 2} for each in forged["decisions"]
    ]
    forged["fallbacks"] = [len(other.moves)] * 2
    assert verify_record(forged) == []
    with new_run(tmp_path / "run", "oshi_zumo", kept=0) as store:
        store.add_record(Record.model_validate(forged))
        for call in calls:
            if call.key.step < count:
                store.add_call(call)
        found = [str(finding) for finding in verify_run(store).findings]
    assert any("is not what match plays" in line for line in found), found


@pytest.mark.parametrize("by", ("model", "retry", "fallback"))
def test_a_decision_without_its_call_is_found(run: Path, by: str) -> None:
    index, decision = decided(run, KEY, by)
    attempt = 1 if by == "model" else 2
    change(
        run,
        "DELETE FROM calls WHERE seat = ? AND step = ? AND attempt = ? AND episode = 1",
        decision["seat"],
        decision["step"],
        attempt,
    )
    line, gap = lines(run)
    assert line.startswith(f"{KEY}: decisions[{index}] has no answered call for attempt {attempt} at step")
    assert gap.startswith("calls has rows that are gone")


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE calls SET model = 'openai:gpt-5-mini' WHERE id = 1", "went to another model"),
        ("UPDATE calls SET request = zeroblob(32) WHERE id = 1", "do not match the digest of what was sent"),
        ("UPDATE calls SET settings = reply WHERE id = 1", "cannot be read"),
        ("UPDATE calls SET reply = 9999 WHERE id = 1", "cannot be read"),
        ("UPDATE calls SET number = 1 WHERE id = 1", "are not all there"),
        ("UPDATE calls SET seat = 1 WHERE id = 1", "were made for a seat that no model plays"),
        ("UPDATE calls SET seat = 77 WHERE id = 1", "were made for a seat that no model plays"),
        ("UPDATE calls SET step = 40 WHERE id = 1", "were made where the record asks for no move"),
        ("UPDATE seats SET score = 0.9 WHERE episode = 1 AND seat = 0", "differ from the table seats"),
        ("UPDATE seats SET entrant = 'eve' WHERE episode = 1 AND seat = 0", "the schedule is not the one"),
        ("UPDATE episodes SET deal_key = 'x' WHERE id = 1", "deal is not the one that the run's seed draws"),
        ("DELETE FROM records WHERE episode = 1", "seats have scores, and there is no record"),
        ("UPDATE records SET body = '{' WHERE episode = 1", "is not a JSON object"),
        ("UPDATE records SET body = '[]' WHERE episode = 1", "is not a JSON object"),
        ("UPDATE records SET body = json_set(body, '$.mood', 1) WHERE episode = 1", "mood is no field of a record"),
    ],
)
def test_any_touched_row_is_told(run: Path, statement: str, said: str) -> None:
    change(run, statement)
    found = lines(run)
    assert any(said in line for line in found), found
    assert all("\n" not in line for line in found)


def test_a_prompt_touched_after_the_fact_is_found(run: Path) -> None:
    db = sqlite3.connect(run / "run.sqlite", isolation_level=None)
    (place, body) = next(row for row in db.execute("SELECT id, body FROM texts") if "# Advice" in unpack(row[1]))
    db.execute("UPDATE texts SET body = ? WHERE id = ?", (pack(unpack(body) + " Bid high."), place))
    db.close()
    assert sum("do not match the digest of what was sent" in line for line in lines(run)) > 60


def test_notes_that_the_reply_did_not_have_are_found(run: Path) -> None:
    index, _ = decided(run, KEY, "model")
    edit(run, KEY, lambda data: data["decisions"][index].__setitem__("notes", "they bluff"))
    assert any(line.startswith(f"{KEY}: decisions[{index}].notes are not those of the reply") for line in lines(run))


def test_a_damaged_file_is_a_finding(tmp_path: Path) -> None:
    new_run(tmp_path / "run", *GAMES, blocks=5).close()
    path = tmp_path / "run" / "run.sqlite"
    content = bytearray(path.read_bytes())
    middle = len(content) // 8192 * 4096
    content[middle : middle + 8192] = b"\xff" * 8192
    path.write_bytes(content)
    (line,) = lines(tmp_path / "run")
    assert line.startswith("the file is damaged: ")
    assert "\n" not in line


def test_transport_retries_and_outages_before_an_answer_are_no_findings(tmp_path: Path) -> None:
    planned = episode("oshi_zumo")
    record, calls = play(planned, models=(0,))
    with new_run(tmp_path / "run", "oshi_zumo", kept=0) as store:
        for call in calls:
            store.add_call(replace(call, fate="wait", completion=None, error="429", billing="none", cost=0.0))
            store.add_call(
                replace(call, number=1, fate="outage", completion=None, error="503", billing="none", cost=0.0)
            )
            store.add_call(replace(call, number=2))
        store.add_record(record)
        assert verify_run(store).findings == []


@pytest.mark.parametrize("by", ["scripted", "fallback"])
def test_notes_where_none_can_be_are_found(run: Path, by: str) -> None:
    with Store.open(run, readonly=True) as store:
        key = next(record.key for record in store.records() if any(choice.by == by for choice in record.decisions))
    index, _ = decided(run, key, by)
    edit(run, key, lambda data: data["decisions"][index].update(notes="forged"))
    assert any(f"decisions[{index}].notes" in line and by in line for line in lines(run)), lines(run)


def test_notes_longer_than_any_are_kept_are_found(run: Path) -> None:
    with Store.open(run, readonly=True) as store:
        key = next(record.key for record in store.records() if any(choice.by == "model" for choice in record.decisions))
    index, _ = decided(run, key, "model")
    edit(run, key, lambda data: data["decisions"][index].update(notes="x" * 401))
    assert any(f"decisions[{index}].notes" in line and "at most 400" in line for line in lines(run)), lines(run)


def test_a_manifest_that_orders_other_numbers_than_were_planned_is_found(run: Path) -> None:
    with Store.open(run, readonly=True) as store:
        manifest = store.manifest.model_dump(mode="json")
        games = sorted({row.game for row in store.episodes()})
    more = manifest | {"episodes": manifest["episodes"] + 90}
    change(run, "UPDATE meta SET value = ? WHERE name = 'manifest'", json.dumps(more))
    assert any("episodes" in line and "manifest" in line for line in lines(run)), lines(run)
    orders = {**manifest["config"], "games": {game: {"blocks": 77} for game in games}}
    change(run, "UPDATE meta SET value = ? WHERE name = 'manifest'", json.dumps(manifest | {"config": orders}))
    found = lines(run)
    for game in games:
        assert any(f"blocks of {game}" in line and "77" in line for line in found), found


# -- what a run asked, made again --------------------------------------------------------------------------------------


def reordered(folder: Path, how: Callable[[dict[str, Any]], object]) -> None:
    """Another manifest."""
    with Store.open(folder, readonly=True) as store:
        data = store.manifest.model_dump(mode="json")
    how(data)
    change(folder, "UPDATE meta SET value = ? WHERE name = 'manifest'", json.dumps(data))


def resend(folder: Path, how: Callable[[list[str]], object], *calls: int) -> None:
    """Calls (none: all) that asked something else, with digests that fit: `how` changes the texts of their messages."""
    db = sqlite3.connect(folder / "run.sqlite", isolation_level=None)
    db.execute("BEGIN")
    texts = {row[0]: unpack(row[1]) for row in db.execute("SELECT id, body FROM texts")}
    for call, model, kept, settings in db.execute("SELECT id, model, messages, settings FROM calls").fetchall():
        if calls and call not in calls:
            continue
        roles, said = zip(*((role, texts[place]) for role, place in json.loads(kept)), strict=True)
        changed = list(said)
        how(changed)
        asked = json.loads(texts[settings])
        messages = tuple(Message(role, text) for role, text in zip(roles, changed, strict=True))
        request = Request(model, messages, Sampling(**asked["sampling"]), asked["schema"])
        places = []
        for role, text in zip(roles, changed, strict=True):
            db.execute("INSERT OR IGNORE INTO texts(digest, body) VALUES (?, ?)", (text_digest(text), pack(text)))
            (place,) = db.execute("SELECT id FROM texts WHERE digest = ?", (text_digest(text),)).fetchone()
            places.append([role, place])
        db.execute(
            "UPDATE calls SET messages = ?, request = ?, prompt_characters = ? WHERE id = ?",
            (json.dumps(places), bytes.fromhex(request.digest), sum(map(len, changed)), call),
        )
    db.execute("COMMIT")
    db.close()


@pytest.mark.parametrize("attempt", [1, 2])
@pytest.mark.parametrize("message", [0, 1])
def test_a_sentence_added_to_one_prompt_is_found(run: Path, attempt: int, message: int) -> None:
    db = sqlite3.connect(run / "run.sqlite")
    call, seat, step = db.execute(
        "SELECT id, seat, step FROM calls WHERE episode = 1 AND attempt = ? LIMIT 1", (attempt,)
    ).fetchone()
    db.close()
    resend(run, lambda texts: texts.__setitem__(message, f"{texts[message]} Bid high."), call)
    (line,) = lines(run)
    where = f"{KEY}: calls of step {step}, seat {seat}, attempt {attempt}"
    assert line.startswith(f"{where} asked something else in message {message}: ")
    assert "Bid high." in line


def test_an_earlier_reply_that_a_second_attempt_did_not_repeat_is_found(run: Path) -> None:
    db = sqlite3.connect(run / "run.sqlite")
    (call,) = db.execute("SELECT id FROM calls WHERE episode = 1 AND attempt = 2 LIMIT 1").fetchone()
    db.close()
    resend(run, lambda texts: texts.__setitem__(2, "I pass."), call)
    (line,) = lines(run)
    assert "asked something else in message 2" in line


def test_a_sentence_added_to_every_prompt_is_found(run: Path) -> None:
    """The same addition to all: no other call shows what they were."""
    resend(run, lambda texts: texts.__setitem__(0, f"Bid high. {texts[0]}"))
    verdict = check(run)
    assert sum("asked something else in message 0" in finding.what for finding in verdict.findings) == verdict.calls


@pytest.mark.parametrize(
    ("how", "where"),
    [
        (lambda data: data["config"]["entrants"]["ann"]["sampling"].update(temperature=0.5), "ann.digest"),
        (lambda data: data["config"]["entrants"]["ann"]["sampling"].update(max_tokens=9), "ann.digest"),
        (lambda data: data["config"]["entrants"]["ann"]["prompts"]["*"].update(style="json-only"), "ann.digest"),
        (lambda data: data["config"]["entrants"]["ann"].update(model="openai:gpt-6"), "ann.model"),
        (lambda data: data["policies"]["goofspiel/ann"].update(digest="1" * 64), "ann.digest"),
        (lambda data: data["policies"]["goofspiel/bob"].update(digest="0" * 64), "bob.digest"),
        (lambda data: data["config"]["entrants"]["bob"].update(scripted="match"), "bob.digest"),
        (lambda data: data["config"]["entrants"]["bob"].update(scripted="nobody"), "bob"),
        (lambda data: data["config"]["games"]["goofspiel"].update(rows="cyclic"), "the schedule of goofspiel"),
        (lambda data: data["config"]["entrants"].pop("ann"), "entrants.ann"),
        (lambda data: data["config"]["entrants"].update(eve={"scripted": "match"}), "entrants.eve"),
        (lambda data: data["config"]["limits"].update(episode_deadline=99.0), "episode_deadline"),
        (lambda data: data.update(seed=SEED + 1), "the schedule of goofspiel"),
    ],
)
def test_what_a_manifest_orders_otherwise_than_was_played_is_found(
    run: Path, how: Callable[[dict[str, Any]], object], where: str
) -> None:
    reordered(run, how)
    found = check(run).findings
    assert any(finding.where.endswith(where) for finding in found), lines(run)


@pytest.mark.parametrize(
    "how",
    [
        lambda data: data["config"]["entrants"]["ann"]["prompts"]["*"].update(sha256="6" * 64),
        lambda data: data.update(prompts={}),
        lambda data: data.update(prompts={digest: f"{text}Bid high." for digest, text in data["prompts"].items()}),
        lambda data: _another_file(data, FILE.replace("Play", "Bid")),
    ],
)
def test_a_prompt_file_that_is_not_the_one_ordered_and_asked_with_is_found(
    tmp_path: Path, how: Callable[[dict[str, Any]], object]
) -> None:
    new_run(tmp_path / "run", "oshi_zumo", chained=True).close()
    assert lines(tmp_path / "run") == []
    reordered(tmp_path / "run", how)
    assert any(line.startswith("prompts.") for line in lines(tmp_path / "run")), lines(tmp_path / "run")


def _another_file(data: dict[str, Any], text: str) -> None:
    digest = hashlib.sha256(text.encode()).hexdigest()
    data["config"]["entrants"]["ann"]["prompts"]["*"].update(sha256=digest)
    data["prompts"] = {digest: text}


def relabelled(folder: Path, manifest: bool) -> None:
    """Every move of bob said to be a person's, and another bid; with `manifest`, his policy a person's there too."""
    person = HumanPolicy("goofspiel", nobody).digest
    db = sqlite3.connect(folder / "run.sqlite", isolation_level=None)
    for number, body in db.execute("SELECT episode, body FROM records").fetchall():
        data = json.loads(body)
        if data["game"] != "goofspiel":
            continue
        seat = data["entrants"].index("bob")
        data["policies"][seat] = person
        for decision in data["decisions"]:
            if decision["seat"] == seat:
                decision["by"] = "human"
        db.execute("UPDATE records SET body = ? WHERE episode = ?", (json.dumps(data), number))
    db.close()
    if manifest:
        reordered(folder, lambda data: data["policies"]["goofspiel/bob"].update(digest=person))


async def nobody(*_: object) -> str:
    raise AssertionError("nobody is asked")


@pytest.mark.parametrize("manifest", [False, True])
def test_scripted_moves_said_to_be_a_persons_are_found(run: Path, manifest: bool) -> None:
    relabelled(run, manifest)
    found = lines(run)
    assert any(("policies.goofspiel/bob.digest" if manifest else "policies[") in line for line in found), found


def other_layout(folder: Path, layout: int) -> None:
    """A run whose prompts were made under another layout: its digests say so, and its texts are others."""
    plain = prompted("goofspiel")
    digest = digest_of(plain.prompt.text, plain.model, plain.sampling, plain.style, layout)
    db = sqlite3.connect(folder / "run.sqlite", isolation_level=None)
    db.execute("UPDATE records SET body = replace(body, ?, ?)", (plain.digest, digest))
    db.execute("UPDATE meta SET value = replace(value, ?, ?) WHERE name = 'manifest'", (plain.digest, digest))
    db.close()
    resend(folder, lambda texts: texts.__setitem__(1, texts[1].replace("# Now", "# Position")))


def test_prompts_of_another_layout_are_neither_failed_nor_checked_in_full(run: Path) -> None:
    other_layout(run, LAYOUT + 1)
    verdict = check(run)
    assert verdict.findings == []
    assert (verdict.records, verdict.whole) == (12, 0)
    assert len(verdict.unchecked) == 3, "ann and cy in goofspiel, ann in oshi_zumo"
    assert all(f"(layout {LAYOUT + 1})" in line for line in verdict.unchecked)
    index, _ = decided(run, KEY, "model")
    edit(run, KEY, lambda data: data["decisions"][index].update(notes="forged"))
    assert any(f"decisions[{index}].notes" in line for line in lines(run)), "their replies are read all the same"


def test_moves_of_a_script_in_another_version_are_not_checked(run: Path) -> None:
    today = scripted("oshi_zumo", "random")
    other = replace(today, baseline=replace(today.baseline, version=2))
    db = sqlite3.connect(run / "run.sqlite", isolation_level=None)
    db.execute("UPDATE records SET body = replace(body, ?, ?)", (today.digest, other.digest))
    db.execute("UPDATE meta SET value = replace(value, ?, ?) WHERE name = 'manifest'", (today.digest, other.digest))
    db.close()
    verdict = check(run)
    assert verdict.findings == []
    assert verdict.unchecked == ("the moves of bob in oshi_zumo (random, version 2)",)
    assert verdict.whole == sum(key.startswith("goofspiel") for key in keys(run))


def keys(folder: Path) -> tuple[str, ...]:
    with Store.open(folder, readonly=True) as store:
        return store.finished()
