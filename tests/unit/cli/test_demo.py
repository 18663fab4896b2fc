from __future__ import annotations

from services.cli.demo_data import demo_entries, demo_questions
from services.cli.importers.model import ImportedTurn
from tests.servicer.client.fake_gateway import FakeGateway
from tests.unit.cli.conftest import Invoke


async def test_the_demo_imports_asks_and_shows_reasons(invoke: Invoke, gateway: FakeGateway) -> None:
    gateway.visible_after_recalls = 1
    gateway.backlog_count = 0
    memory = gateway.recall_response.memories.add(memory_id="m1", score=0.5)
    memory.turn.content, memory.turn.speaker = "Chocolate gives me headaches", "Nadia"
    memory.explanation.retrievers.add(retriever="dense", rank=1)
    memory.explanation.parts.add(name="dense", value=0.5)
    gateway.recall_response.facts.add(similarity=0.6).fact.text = "Nadia avoids chocolate"
    gateway.recall_response.facts.add(similarity=0.1).fact.text = "Owen likes cats"

    result = await invoke("demo")
    assert result.exit_code == 0, result.output
    turns = demo_entries()
    assert sum(len(log) for (user, _), log in gateway.log.items() if user == "demo") == len(turns)
    for question in demo_questions():
        assert (question.question in result.stdout) == question.shown
    for part in (
        "Nadia: Chocolate gives me headaches",
        "found by meaning (1st); 0.50 = meaning +0.50",
        "fact  Nadia avoids chocolate",
        "grpcurl -plaintext",
        "SyncClient",
        # This gateway has no tier of notes: the demo says so, and goes on.
        "What the notes say as a whole",
        "not to be had now",
    ):
        assert part in result.stdout
    assert "Owen likes cats" not in result.stdout
    asked = [r for r in gateway.requests if getattr(r, "query", "").endswith("?")]
    assert len(asked) == 5
    assert {r.as_of_time.seconds for r in asked} == {_last_turn_seconds()}


async def test_a_second_demo_imports_nothing(invoke: Invoke, gateway: FakeGateway) -> None:
    gateway.backlog_count = 0
    await invoke("demo")
    gateway.requests.clear()
    result = await invoke("demo")
    assert result.exit_code == 0, result.output
    assert "is there already" in result.stdout
    assert not any(isinstance(request, list) for request in gateway.requests)  # no stream


async def test_a_demo_that_was_cut_off_is_completed(invoke: Invoke, gateway: FakeGateway) -> None:
    gateway.backlog_count = 0
    await invoke("demo")
    # As if the last session had never been sent.
    lost = gateway.log.pop(("demo", "s17"))
    gateway.answers = {
        i: a for i, a in gateway.answers.items() if not a.interactions[0].interaction_id.startswith("s17")
    }
    assert lost
    result = await invoke("demo")
    assert result.exit_code == 0, result.output
    assert sum(map(len, gateway.log.values())) == len(demo_entries())


def _last_turn_seconds() -> int:
    entry = demo_entries()[-1]
    assert isinstance(entry, ImportedTurn)
    assert entry.turn.time is not None
    return int(entry.turn.time.timestamp())
