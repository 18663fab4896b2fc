"""Content of the semantic tier that is easily found again, and stores that it is written to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from services.common.idempotency.model import Idempotency, IdempotencyKey
from services.common.owners import InteractionId
from services.common.scope import GLOBAL_SCOPE
from services.semantic.code.store import CodeStore
from services.semantic.content_keys import ContentKeys
from services.semantic.facts.model import FactId, FactStatus, FactVersion, VersionReason
from services.semantic.facts.store import FactChange, FactFilter, FactStore, FactWriter
from services.semantic.procedures.model import JudgedRecall, Procedure, ProcedureDraft, ProcedureKind, ProcedureOrigin
from services.semantic.procedures.store import ProcedureStore, ProcedureWriter
from services.semantic.profile.model import Preferences
from services.semantic.profile.store import ProfileStore
from services.semantic.supersession.model import Assertion, Place
from services.semantic.supersession.store import SupersessionStore
from tests.contract import code_store, profile_store, supersession_samples
from tests.contract.fact_samples import ANN, DAY_ONE, enter, lives_in, new_id, said

CANARY: Final = "Miso the cat prefers sardines"
EVERYTHING: Final = FactFilter(statuses=frozenset(FactStatus))


@dataclass(frozen=True)
class Stores:
    """A replica with caches of its own."""

    facts: FactStore
    supersessions: SupersessionStore
    procedures: ProcedureStore
    profiles: ProfileStore
    code: CodeStore
    content_keys: ContentKeys


@dataclass(frozen=True)
class _Response:
    text: str


RESPONSES = Idempotency(_Response, retention_seconds=60.0)


async def write_fact(stores: Stores) -> FactId:
    """A fact with an earlier version and the response to a request."""
    draft = replace(lives_in(CANARY), text=f"{CANARY} (text)", subject=f"{CANARY} (subject)", predicate="likes")
    (fact_id,) = await enter(stores.facts, ANN, [said(draft)])

    async def work(writer: FactWriter) -> None:
        (record,) = await writer.records_of([fact_id])
        assert record.fact is not None
        version = FactVersion(f"{CANARY} (version)", 0.5, DAY_ONE, VersionReason.SUPERSEDED)
        await writer.put([FactChange(record, replace(record.fact, versions=(version,)), (), None, "m")])

        async def made() -> _Response:
            return _Response(f"{CANARY} (response)")

        await RESPONSES.run(
            writer.idempotency,
            IdempotencyKey("agent", f"r{fact_id}", "digest"),
            made,
            now=DAY_ONE,
            user_id=ANN.user_id,
            resource_id=lambda _: fact_id,
        )

    await stores.facts.write(ANN, work)
    return fact_id


def assertion(number: int) -> Assertion:
    place = Place(InteractionId(new_id()), 0)
    return Assertion(place, f"{CANARY} {number}", CANARY, DAY_ONE, GLOBAL_SCOPE.key, (1, 2), is_only=True)


async def write_canaries(stores: Stores) -> FactId:
    fact_id = await write_fact(stores)
    await stores.supersessions.add(
        ANN, [assertion(1), assertion(2)], supersession_samples.decide, candidates_max=supersession_samples.at_most(9)
    )

    async def procedures(writer: ProcedureWriter) -> None:
        draft = ProcedureDraft(ProcedureKind.QUERY_REWRITING, CANARY, f"{CANARY} (action)")
        await writer.put(
            Procedure(
                procedure_id=new_id(),
                draft=draft,
                initial_confidence=0.7,
                origin=ProcedureOrigin.STATED,
                create_time=DAY_ONE,
                update_time=DAY_ONE,
                etag="1",
                confidence=0.7,
            )
        )
        judged = JudgedRecall(new_id(), new_id(), 1, CANARY, GLOBAL_SCOPE.key, DAY_ONE)
        await writer.put_judged(judged, count_max=9)

    await stores.procedures.write(ANN, procedures)
    preferences = Preferences(language=CANARY, other={"colour": CANARY})
    await stores.profiles.write(ANN, lambda writer: writer.put_preferences(preferences, etag="e", update_time=DAY_ONE))
    observed = profile_store.observed(topics=(CANARY,), sources=(CANARY,), stated={"language": CANARY})
    await stores.profiles.observe(ANN.tenant_id, [observed])
    files = [replace(code_store.packed("a.py"), content=CANARY.encode())]
    await code_store.write(stores.code, *files, owner=ANN)
    return fact_id


TABLES: Final = {
    "facts",
    "fact_statements",
    "assertions",
    "supersessions",
    "procedures",
    "judged_recalls",
    "profiles",
    "observed_interactions",
    "code_files",
    "idempotency_records",
}
"""Where it would be found if it were stored plain."""
