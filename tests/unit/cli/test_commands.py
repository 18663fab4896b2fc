from __future__ import annotations

import json
from pathlib import Path

import grpc
import pytest
from typer.testing import CliRunner

from mneme.gateway.v1 import deliveries_pb2, tiers_pb2
from services.cli.main import app
from tests.servicer.client.fake_gateway import FakeGateway, invalid, status
from tests.unit.cli.conftest import Invoke


async def test_remember_takes_one_turn(invoke: Invoke, gateway: FakeGateway) -> None:
    result = await invoke(
        "remember", "Hi", "-u", "ana", "-c", "chat", "--speaker", "Ana", "--time", "2026-05-08", "--wait"
    )
    assert result.exit_code == 0, result.output
    (turn,) = gateway.log[("ana", "chat")]
    assert (turn.content, turn.speaker, turn.time.seconds) == ("Hi", "Ana", 1_778_198_400)
    assert gateway.metadata[0]["authorization"] == "Bearer secret"
    assert gateway.requests[-1].consistency_token == "token-0"


def _one_memory(gateway: FakeGateway) -> None:
    memory = gateway.recall_response.memories.add(memory_id="m1", score=0.5)
    memory.turn.content, memory.turn.speaker = "the [red]sea[/red]", "Ana"
    memory.explanation.retrievers.add(retriever="lexical", rank=1)
    gateway.recall_response.facts.add().fact.text = "Ana likes the sea"


async def test_recall_shows_memories_and_reasons(invoke: Invoke, gateway: FakeGateway) -> None:
    _one_memory(gateway)
    result = await invoke("recall", "sea?", "-u", "ana", "--explain", "-n", "3", "--as-of", "2026-05-08T12:00:00Z")
    assert result.exit_code == 0, result.output
    for part in ("the [red]sea[/red]", "Ana", "by its words (1st)", "Ana likes the sea"):
        assert part in result.stdout
    assert gateway.requests[0].limit == 3
    assert gateway.requests[0].as_of_time.seconds == 1_778_241_600


async def test_recall_prints_json(invoke: Invoke, gateway: FakeGateway) -> None:
    _one_memory(gateway)
    result = await invoke("recall", "sea?", "-u", "ana", "--json")
    assert json.loads(result.stdout)["memories"][0]["memory_id"] == "m1"


async def test_spec_6_7_an_exported_user_is_not_imported_for_another_one(
    invoke: Invoke, gateway: FakeGateway, tmp_path: Path
) -> None:
    file = tmp_path / "leo.jsonl"
    file.write_text('{"format":"mneme-user","user_id":"leo","version":1}\n')
    result = await invoke("import", str(file), "-u", "zoe")
    assert result.exit_code == 1
    assert "leo.jsonl holds the user leo, not zoe" in result.stderr
    assert gateway.requests == []


async def test_recall_says_that_nothing_was_found(invoke: Invoke) -> None:
    result = await invoke("recall", "sea?", "-u", "ana")
    assert result.exit_code == 0
    assert "Nothing was found." in result.stdout


async def test_context_prints_the_text_alone_to_stdout(invoke: Invoke) -> None:
    result = await invoke("context", "sea?", "-u", "ana")
    assert result.stdout == "Memories:\n- the sea\n"
    assert "5 of 2000 tokens" in result.stderr


async def test_import_keeps_good_lines_reports_bad_ones_and_is_idempotent(
    invoke: Invoke, gateway: FakeGateway, tmp_path: Path
) -> None:
    file = tmp_path / "chat.jsonl"
    lines = [json.dumps({"text": f"turn {n}", "session": f"s{n // 90}"}) for n in range(250)]
    file.write_text("\n".join([*lines[:120], "{broken", *lines[120:]]))
    result = await invoke("import", file, "--wait")
    assert result.exit_code == 1
    assert (
        "chat.jsonl: line 121: is not JSON: Expecting property name enclosed in double quotes at column 2"
        in result.stderr
    )
    assert "250 turns of chat.jsonl are in the memory of chat, 1 bad entry left out." in result.stdout
    assert [t.content for t in gateway.log[("chat", "s1")]] == [f"turn {n}" for n in range(90, 180)]

    again = await invoke("import", file)
    assert again.exit_code == 1
    assert sum(len(turns) for turns in gateway.log.values()) == 250


async def test_import_names_the_lines_that_the_service_refuses(
    invoke: Invoke, gateway: FakeGateway, tmp_path: Path
) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_text('{"text": "a"}\n{"text": "b"}\n')
    gateway.refused_contents.add("b")
    result = await invoke("import", file, "--user", "ana")
    assert result.exit_code == 1
    assert "chat.jsonl: line 2: turns[0].content is required" in result.stderr
    assert [t.content for t in gateway.log[("ana", "chat")]] == ["a"]


async def test_import_reads_locomo(invoke: Invoke, gateway: FakeGateway, tmp_path: Path) -> None:
    file = tmp_path / "43.json"
    turns = [{"speaker": "Ana", "dia_id": "D1:1", "text": "Hi"}]
    file.write_text(json.dumps({"session_1": turns, "session_1_date_time": "1:56 pm on 8 May, 2023"}))
    result = await invoke("import", file)
    assert result.exit_code == 0, result.output
    assert gateway.log[("43", "session_1")][0].metadata["source_id"] == "D1:1"


async def test_import_of_another_layout_is_one_message(invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text("[]")
    result = await invoke("import", file)
    assert result.exit_code == 1
    assert "the layout of x.json is not known" in result.stderr


async def test_the_log_is_listed_and_read(invoke: Invoke) -> None:
    await invoke("remember", "Good morning", "-u", "ana", "-c", "chat")
    listed = await invoke("conversations", "-u", "ana")
    assert "chat" in listed.stdout
    read = await invoke("transcript", "chat", "-u", "ana")
    assert "user: Good morning" in read.stdout
    assert "No conversations." in (await invoke("conversations", "-u", "nobody")).stdout
    assert "Nothing was said there." in (await invoke("transcript", "other", "-u", "ana")).stdout


async def test_spec_3_12_a_transcript_says_which_turns_are_superseded(invoke: Invoke, gateway: FakeGateway) -> None:
    await invoke("remember", "I live in Leeds.", "-u", "ana", "-c", "chat")
    await invoke("remember", "I live in York now.", "-u", "ana", "-c", "chat")
    gateway.superseded["I live in Leeds."] = "i1"
    read = await invoke("transcript", "chat", "-u", "ana")
    assert "I live in Leeds. (superseded)" in read.stdout
    assert "I live in York now.\n" in read.stdout
    assert "not known" not in read.stderr
    gateway.marks_missing = True
    assert "not known" in (await invoke("transcript", "chat", "-u", "ana")).stderr


async def test_feedback_sends_the_judgement(invoke: Invoke, gateway: FakeGateway) -> None:
    result = await invoke("feedback", "bad", "m1", "m2", "-u", "ana")
    assert result.exit_code == 0, result.output
    assert (gateway.requests[0].value, [m.memory_id for m in gateway.requests[0].memories]) == (2, ["m1", "m2"])


async def test_deliveries_are_shown_and_retried(invoke: Invoke, gateway: FakeGateway) -> None:
    gateway.dead_letters = [deliveries_pb2.DeadLetter(delivery_id=n, tier=tiers_pb2.TIER_SEMANTIC) for n in ("7", "8")]
    assert "episodic" in (await invoke("backlog")).stdout
    assert json.loads((await invoke("backlog", "--json")).stdout)[0]["pending_count"] == 4
    assert "semantic" in (await invoke("dead-letters", "--tier", "semantic")).stdout
    one = await invoke("dead-letters", "--retry", "7")
    assert "1 of 1 put back" in one.stdout
    everything = await invoke("dead-letters", "--retry-all")
    assert "2 of 2 put back" in everything.stdout
    assert list(gateway.requests[-1].delivery_ids) == ["7", "8"]


async def test_refusals_are_one_message(invoke: Invoke, gateway: FakeGateway) -> None:
    gateway.failures = [invalid()]
    result = await invoke("remember", "x", "-u", "ana")
    assert result.exit_code == 1
    assert result.stderr.replace("\n", " ").strip() == (
        "INVALID_ARGUMENT/INVALID_FIELD: the turn is not valid (turns[3].content: is required)"
    )


async def test_a_missing_credential_has_a_hint(invoke: Invoke, gateway: FakeGateway) -> None:
    gateway.failures = [status(grpc.StatusCode.UNAUTHENTICATED, "no credential", "CREDENTIAL_MISSING")]
    result = await invoke("backlog")
    assert result.exit_code == 1
    assert "MNEME_API_KEY" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["recall", "q"],
        ["recall", "q", "-u", "a", "--limit", "0"],
        ["recall", "q", "-u", "a", "--as-of", "yesterday"],
        ["import", "/nonexistent.jsonl"],
        ["feedback", "fine", "m1", "-u", "a"],
    ],
)
def test_wrong_usage_is_exit_code_2(arguments: list[str]) -> None:
    assert CliRunner().invoke(app, arguments).exit_code == 2


async def test_a_key_file_that_is_empty_or_missing_is_named(invoke: Invoke, tmp_path: Path) -> None:
    listed = await invoke("keys", "list", "--file", tmp_path / "other.json")
    assert listed.stdout.strip() == f"No keys in {tmp_path / 'other.json'}."


async def test_keys_are_made_listed_and_revoked(invoke: Invoke, tmp_path: Path) -> None:
    made = await invoke("keys", "create", "--tenant", "acme", "--name", "bot", "--role", "reader", "--days", "3")
    assert made.exit_code == 0, made.output
    key = made.stdout.strip()
    assert key.startswith("mn_")
    assert key not in (tmp_path / "data" / "api-keys.json").read_text()
    listed = (await invoke("keys", "list")).stdout
    assert "acme" in listed
    assert "valid" in listed
    key_id = key.split("_")[1]
    assert (await invoke("keys", "revoke", key_id)).exit_code == 0
    assert "revoked" in (await invoke("keys", "list")).stdout
    assert (await invoke("keys", "revoke", "unknown")).exit_code == 1


async def test_the_trace_of_a_call_is_printed(invoke: Invoke) -> None:
    result = await invoke("recall", "sea?", "-u", "ana", "--trace-console")
    assert result.exit_code == 0, result.output
    assert "search_memory" in result.stdout
    assert " ms " in result.stdout
