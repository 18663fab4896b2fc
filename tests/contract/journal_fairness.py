"""How every driver of the journal shares its deliveries among tenants."""

from __future__ import annotations

from services.gateway.journal.model import Caller, Delivery, DeliveryFailure, DeliveryOutcome, Interaction, Tier
from services.gateway.journal.store import Journal
from tests.contract.journal import append, command, take
from tests.support.clock import FakeClock


def tenant(number: int) -> Caller:
    return Caller(tenant_id=f"t{number:02}", principal_id="agent")


def texts(deliveries: tuple[Delivery, ...] | list[Delivery]) -> list[str]:
    return [d.subject.turn.content for d in deliveries if isinstance(d.subject, Interaction)]


class FairClaimsContract:
    """Subclass it with fixtures `journal` and `clock`."""

    async def test_spec_6_5_a_small_tenant_is_in_the_next_claim_whatever_another_has_written(
        self, journal: Journal
    ) -> None:
        for start in range(0, 400, 100):
            await append(journal, command(*(f"{start + n}" for n in range(100))), tenant(1))
        await append(journal, command("mine"), tenant(2))
        claimed = await take(journal, Tier.EPISODIC, limit=8)
        assert [d.tenant_id for d in claimed] == ["t01"] * 4 + ["t02"]
        assert texts(list(claimed)) == ["0", "1", "2", "3", "mine"]

    async def test_spec_6_5_one_tenant_alone_has_the_whole_claim(self, journal: Journal) -> None:
        await append(journal, command(*map(str, range(20))), tenant(1))
        assert texts(list(await take(journal, Tier.EPISODIC, limit=8))) == list("01234567")
        assert texts(list(await take(journal, Tier.EPISODIC, limit=8)))[0] == "8"

    async def test_spec_6_5_more_tenants_than_a_claim_holds_take_turns(self, journal: Journal) -> None:
        for number in range(40):
            await append(journal, command("a", "b", "c"), tenant(number))
        seen: list[str] = []
        for _ in range(10):
            seen += dict.fromkeys(d.tenant_id for d in await take(journal, Tier.AGENTIC, limit=4))
        assert sorted(seen) == [tenant(n).tenant_id for n in range(40)]  # each once before any comes again

    async def test_spec_6_5_two_workers_share_tenants_and_no_delivery(self, journal: Journal) -> None:
        for number in (1, 2):
            await append(journal, command(*map(str, range(6))), tenant(number))
        async with journal.claim(Tier.SEMANTIC, limit=4) as first, journal.claim(Tier.SEMANTIC, limit=4) as second:
            ids = [[d.delivery_id for d in batch.deliveries] for batch in (first, second)]
            assert not set(ids[0]) & set(ids[1])
            assert [sorted({d.tenant_id for d in b.deliveries}) for b in (first, second)] == [["t01", "t02"]] * 2

    async def test_spec_6_5_tenants_whose_deliveries_wait_are_passed_over(
        self, journal: Journal, clock: FakeClock
    ) -> None:
        for number in range(5):
            await append(journal, command("a"), tenant(number))
        async with journal.claim(Tier.PROFILE, limit=50) as batch:
            failed = [DeliveryFailure(d, "INTERNAL", permanent=False) for d in batch.deliveries]
            await batch.settle(DeliveryOutcome(failed=tuple(failed)))
        clock.advance(seconds=0.5)
        await append(journal, command("late"), tenant(3))
        assert texts(list(await take(journal, Tier.PROFILE, limit=2))) == ["late"]
        assert await take(journal, Tier.PROFILE, limit=2) == ()
        clock.advance(seconds=10)
        assert len(await take(journal, Tier.PROFILE, limit=50)) == 5

    async def test_spec_6_5_pending_deliveries_of_a_tenant_are_counted_up_to_a_bound(self, journal: Journal) -> None:
        await append(journal, command("a", "b"), tenant(1))
        assert await journal.pending_count("t01", count_max=100) == 2 * len(Tier)
        assert await journal.pending_count("t01", count_max=3) == 3
        assert await journal.pending_count("t02", count_max=100) == 0
