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

    async def test_spec_6_5_a_small_tenant_has_the_next_claim_whatever_another_has_written(
        self, journal: Journal
    ) -> None:
        for start in range(0, 400, 100):
            await append(journal, command(*(f"{start + n}" for n in range(100))), tenant(1))
        await append(journal, command("mine"), tenant(2))
        claims = [texts(list(await take(journal, Tier.EPISODIC, limit=4))) for _ in range(3)]
        assert claims == [["0", "1", "2", "3"], ["mine"], ["4", "5", "6", "7"]]

    async def test_spec_6_5_a_claim_passes_over_a_tenant_whose_deliveries_another_worker_has(
        self, journal: Journal
    ) -> None:
        await append(journal, command("a"), tenant(1))
        await append(journal, command("b"), tenant(2))
        async with journal.claim(Tier.EPISODIC, limit=4), journal.claim(Tier.EPISODIC, limit=4):
            assert await take(journal, Tier.EPISODIC, limit=4) == ()  # both are claimed: it looks at each once
            await append(journal, command("c"), tenant(3))
            assert texts(list(await take(journal, Tier.EPISODIC, limit=4))) == ["c"]

    async def test_spec_6_5_one_tenant_alone_has_the_whole_claim(self, journal: Journal) -> None:
        await append(journal, command(*map(str, range(20))), tenant(1))
        assert texts(list(await take(journal, Tier.EPISODIC, limit=8))) == list("01234567")
        assert texts(list(await take(journal, Tier.EPISODIC, limit=8)))[0] == "8"

    async def test_spec_6_5_many_tenants_take_turns(self, journal: Journal) -> None:
        for number in range(40):
            await append(journal, command("a", "b", "c"), tenant(number))
        seen: list[str] = []
        for _ in range(40):
            seen += dict.fromkeys(d.tenant_id for d in await take(journal, Tier.AGENTIC, limit=4))
        assert sorted(seen) == [tenant(n).tenant_id for n in range(40)]  # each once before any comes again

    async def test_spec_6_5_two_workers_share_no_delivery(self, journal: Journal) -> None:
        for number in (1, 2):
            await append(journal, command(*map(str, range(6))), tenant(number))
        async with journal.claim(Tier.SEMANTIC, limit=4) as first, journal.claim(Tier.SEMANTIC, limit=4) as second:
            assert [{d.tenant_id for d in b.deliveries} for b in (first, second)] == [{"t01"}, {"t02"}]
            third = await take(journal, Tier.SEMANTIC, limit=4)  # behind what the first has
            assert texts(list(third)) == ["4", "5"]

    async def test_spec_8_5_a_users_deliveries_go_to_the_agentic_tier_in_order_by_one_worker_at_a_time(
        self, journal: Journal
    ) -> None:
        await append(journal, command("a", "b", user="u1"))
        async with journal.claim(Tier.AGENTIC, limit=10) as first:
            await append(journal, command("c", user="u2"))
            await append(journal, command("d", user="u1"))
            assert texts(list(first.deliveries)) == ["a", "b"]
            assert texts(list(await take(journal, Tier.AGENTIC))) == ["c"]
            assert texts(list(await take(journal, Tier.EPISODIC))) == ["a", "b", "c", "d"]
        assert texts(list(await take(journal, Tier.AGENTIC))) == ["a", "b", "d"]  # nothing was settled

    async def test_spec_6_5_tenants_whose_deliveries_wait_are_passed_over(
        self, journal: Journal, clock: FakeClock
    ) -> None:
        for number in range(5):
            await append(journal, command("a"), tenant(number))
        for _ in range(5):
            async with journal.claim(Tier.PROFILE, limit=50) as batch:
                failed = [DeliveryFailure(d, "INTERNAL", permanent=False) for d in batch.deliveries]
                await batch.settle(DeliveryOutcome(failed=tuple(failed)))
        clock.advance(seconds=0.5)
        await append(journal, command("late"), tenant(3))
        assert texts(list(await take(journal, Tier.PROFILE, limit=2))) == ["late"]
        assert await take(journal, Tier.PROFILE, limit=2) == ()
        clock.advance(seconds=10)
        assert sum([len(await take(journal, Tier.PROFILE, limit=50)) for _ in range(5)]) == 5

    async def test_spec_6_5_pending_deliveries_of_a_tenant_are_counted_up_to_a_bound(self, journal: Journal) -> None:
        await append(journal, command("a", "b"), tenant(1))
        assert await journal.pending_count("t01", count_max=100) == 2 * len(Tier)
        assert await journal.pending_count("t01", count_max=3) == 3
        assert await journal.pending_count("t02", count_max=100) == 0
