"""The console in a real headless browser, against services with API keys."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest
import pytest_asyncio

from bench.browser import Page
from mneme_client import FactCategory, NoteKind, Turn
from services.gateway.journal.model import Tier
from tests.support.stack import RunningStack

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.ci("a headless browser", needs="chromium")]

HOSTILE = "<img src=x onerror=\"document.title='broken'\"><script>document.title='broken'</script> Rex chews shoes."
TURNS = [
    "I live in Bruges, and my dog is called Rex.",
    "My sister Grace works at the harbour.",
    "I moved to Ghent last week.",
    "I am allergic to peanuts.",
    HOSTILE,
]
SETTLED = "document.querySelector('main h1, main .failure, main .empty') && !document.querySelector('main .waiting')"


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser_page: Page) -> AsyncIterator[Page]:
    yield browser_page
    assert browser_page.problems == []


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def user(secured_stack: RunningStack) -> str:
    user_id = f"ada-{uuid.uuid4().hex[:6]}"
    async with secured_stack.client("writer") as client:
        tokens = [
            (await client.remember(user_id, "monday", [Turn(text, speaker="Ada")])).consistency_token for text in TURNS
        ]
        await client.recall(user_id, "dog", consistency_token=tokens[-1])
    return user_id


async def look(page: Page, name: str) -> None:
    """Keeps a picture for people where a folder is named."""
    if folder := os.environ.get("MNEME_SCREENSHOTS"):
        await asyncio.to_thread(Path(folder).mkdir, parents=True, exist_ok=True)
        await page.screenshot(Path(folder) / f"{name}.png")


async def sign_in(page: Page, stack: RunningStack, key: str) -> None:
    await page.show(f"http://{stack.services.http_address}/console/")
    await page.until("document.activeElement?.id === 'key'")
    await page.type(stack.keys[key])
    await page.key("Enter", 13)
    await page.until("document.getElementById('user')")


async def go(page: Page, place: str) -> str:
    """Shows a page by the address behind "#", and returns its text."""
    await page.run(f"document.querySelector('main').replaceChildren(); location.hash = {place!r}")
    await page.until(SETTLED)
    return str(await page.run("document.querySelector('main').innerText"))


async def test_spec_9_6_a_key_signs_in_and_stays_in_the_tab(page: Page, secured_stack: RunningStack) -> None:
    await page.show(f"http://{secured_stack.services.http_address}/console/")
    await page.until("document.activeElement?.id === 'key'")
    await look(page, "sign-in")
    assert page.problems == []  # whether a key is needed is asked without a call that is refused
    await page.type("mn_wrong")
    await page.key("Enter", 13)
    await page.until("document.querySelector('.failure')")
    await page.run("document.getElementById('key').value = ''")
    await page.type(secured_stack.keys["reader"])
    await page.key("Enter", 13)
    await page.until("document.getElementById('user')")
    assert await page.run("[sessionStorage.length, localStorage.length, document.cookie]") == [0, 0, ""]
    await page.click("Sign out")
    await page.until("document.activeElement?.id === 'key'")
    page.problems.clear()  # the browser itself logs the 401 of the wrong key


async def test_spec_9_6_stored_text_is_never_markup(page: Page, secured_stack: RunningStack, user: str) -> None:
    await sign_in(page, secured_stack, "reader")
    text = await go(page, f"#/timeline?user={user}")
    assert HOSTILE in text
    assert TURNS[0] in text
    assert HOSTILE in await go(page, f"#/timeline?user={user}&conversation=monday")
    assert HOSTILE in await go(page, f"#/search?user={user}&q=Rex")
    assert await page.run("document.querySelectorAll('main img, main script').length") == 0
    assert "broken" not in await page.run("document.title")


async def test_spec_9_6_answers_come_with_their_reasons_as_bars(
    page: Page, secured_stack: RunningStack, user: str
) -> None:
    await sign_in(page, secured_stack, "reader")
    text = await go(page, f"#/search?user={user}&q=Where%20does%20Ada%20live%3F")
    assert TURNS[2] in text
    assert "dense" in text
    assert await page.run("document.querySelectorAll('.reasons rect.plus').length") >= 5
    await look(page, "search")


async def test_spec_9_6_facts_lie_on_a_time_line_with_their_history(
    page: Page, secured_stack: RunningStack, user: str
) -> None:
    async with secured_stack.client("reader") as client:
        found = client.list_facts(user)
        count = len([fact async for fact in found])
    await sign_in(page, secured_stack, "reader")
    await go(page, f"#/facts?user={user}")
    assert await page.run("document.querySelectorAll('.chart rect.lane').length") == count > 0
    await look(page, "facts")
    await page.run("location.hash = document.querySelector('.chart a').getAttribute('href')")
    await page.until("document.querySelector('h1')?.textContent === 'Fact' && document.querySelector('.chart path')")
    assert "Evidence" in await page.run("document.querySelector('main').innerText")
    await look(page, "fact")


async def test_spec_9_6_a_fact_without_a_predicate_is_on_the_time_line_too(
    page: Page, secured_stack: RunningStack
) -> None:
    user_id = f"bare-{uuid.uuid4().hex[:6]}"
    text = "Rex lives in Bruges."
    async with secured_stack.client("writer") as client:
        await client.create_fact(user_id, text, FactCategory.CONTEXT, subject="Rex", object="Bruges")
        await client.create_fact(user_id, "Rex is a good dog.", FactCategory.CONTEXT)
    await sign_in(page, secured_stack, "reader")
    await go(page, f"#/facts?user={user_id}")
    assert await page.run("document.querySelectorAll('.chart rect.lane').length") == 2
    assert text in await page.run("document.querySelector('.chart').textContent")


async def test_spec_9_6_the_same_question_is_asked_again(page: Page, secured_stack: RunningStack, user: str) -> None:
    await sign_in(page, secured_stack, "reader")
    await go(page, f"#/search?user={user}&q=dog")
    await page.run("document.querySelector('main').replaceChildren(document.querySelector('main form'))")
    await page.click("Recall")
    await page.until(f"document.querySelector('main h1') && {SETTLED}")


async def test_spec_9_6_the_graph_is_walked_by_keyboard(page: Page, secured_stack: RunningStack, user: str) -> None:
    await sign_in(page, secured_stack, "reader")
    await go(page, f"#/notes?user={user}")
    await page.run("document.querySelector('.split a.row').focus()")
    await page.key("Enter", 13)
    await page.until(f"document.querySelector('.chart circle.centre') && {SETTLED}")
    await look(page, "notes")
    first = await page.run("location.hash")
    if await page.run("document.querySelectorAll('.chart a').length") > 1:
        await page.run("[...document.querySelectorAll('.chart a')].at(-1).focus()")
        await page.key("Enter", 13)
        await page.until(f"location.hash !== {first!r}")


async def test_spec_9_6_what_a_role_may_not_see_is_said(page: Page, secured_stack: RunningStack, user: str) -> None:
    await sign_in(page, secured_stack, "reader")
    assert "permission denied" in await go(page, "#/audit")
    page.problems.clear()  # the browser itself logs the 403
    for place, words in {
        f"#/maintenance?user={user}": "agentic.consolidate",
        f"#/conflicts?user={user}": "Conflicts",
        "#/erasures": "Which erasure?",
        f"#/erasures?user={user}": "Nothing was erased of this user.",
        "#/facts": "Whose memory?",
        "#/timeline?user=nobody": "Nothing is remembered here.",
    }.items():
        assert words in await go(page, place)


async def test_spec_9_6_operations_are_shown(page: Page, secured_stack: RunningStack, user: str) -> None:
    async with secured_stack.client("admin") as client:
        erased = await client.erase_user(f"{user}-other")
    await sign_in(page, secured_stack, "admin")
    assert "Nothing was given up." in await go(page, f"#/deliveries?user={user}")
    assert "Recall" in await go(page, f"#/audit?user={user}")
    await look(page, "audit")
    assert f"{user}-other" in await go(page, f"#/erasures?id={erased.erasure_id}")
    await look(page, "erasure")
    await go(page, f"#/maintenance?user={user}")
    await page.click("What would it do?")
    await page.until("document.querySelector('section.turn')")
    await look(page, "maintenance")


async def test_spec_9_6_a_decision_is_taken_after_the_second_yes(
    page: Page, secured_stack: RunningStack, user: str
) -> None:
    statement = "document.querySelector('.pair')"
    await sign_in(page, secured_stack, "writer")
    await go(page, f"#/conflicts?user={user}&state=APPLIED")
    await page.until(statement)
    await page.click("Both stand")
    await page.until("document.querySelector('dialog[open]')")
    assert await page.run("document.activeElement.textContent") == "Cancel"
    await look(page, "dialog")
    await page.click("Cancel")
    await page.until("!document.querySelector('dialog')")
    assert "There are none." in await go(page, f"#/conflicts?user={user}&state=REJECTED")
    await go(page, f"#/conflicts?user={user}&state=APPLIED")
    await page.click("Both stand")
    await page.click("Yes, decide so")
    await page.until("document.querySelector('.notice')?.textContent === 'Decided.'")
    await go(page, f"#/conflicts?user={user}&state=REJECTED")
    await page.until(statement)


async def test_spec_9_6_a_run_is_started_and_taken_back(page: Page, secured_stack: RunningStack) -> None:
    user_id = f"run-{uuid.uuid4().hex[:6]}"
    async with secured_stack.client("writer") as client:
        for _ in range(2):
            await client.create_note(user_id, "The ferry to Texel leaves at nine from pier four.", NoteKind.FACT)
    await sign_in(page, secured_stack, "writer")
    await go(page, f"#/maintenance?user={user_id}")
    row = "[...document.querySelectorAll('main tr')].find((one) => one.innerText.startsWith('agentic.consolidate'))"
    await page.run(f"{row}.querySelector('button').click()")
    await page.click("Run it")
    await page.until("document.querySelector('dialog[open]')")
    await look(page, "run-dialog")
    await page.click("Yes, run it")
    await page.until("document.querySelector('.notice')?.textContent.endsWith('made.')")
    await page.until("document.querySelector('a.row')")
    await page.run("location.hash = document.querySelector('a.row').getAttribute('href')")
    await page.until("document.querySelector('h1')?.textContent === 'agentic.consolidate'")
    await page.click("Undo")
    await page.until("document.querySelector('dialog[open]')")
    await page.click("Yes, undo it")
    await page.until("document.querySelector('main .badge')?.textContent === 'taken back'")
    assert "Undo" not in await page.run("document.querySelector('main').innerText")
    await look(page, "run-taken-back")
    async with secured_stack.client("reader") as client:
        assert len([note async for note in client.list_notes(user_id)]) == 2


async def test_spec_9_6_what_was_given_up_is_tried_again(page: Page, secured_stack: RunningStack, user: str) -> None:
    await _give_up(secured_stack, user)
    await sign_in(page, secured_stack, "admin")
    assert "out of luck" in await go(page, "#/deliveries")
    await look(page, "dead-letter")
    await page.run("document.querySelector('main input[type=checkbox]').click()")
    await page.click("Try 1 again")
    await page.until("document.querySelector('dialog[open]')")
    await page.click("Yes, try again")
    await page.until("document.querySelector('main').innerText.includes('Nothing was given up.')")
    async with secured_stack.client("admin") as client:
        assert [letter async for letter in client.list_dead_letters()] == []


async def _give_up(stack: RunningStack, user_id: str) -> None:
    """Puts a dead letter into the outbox: a turn of the user that its tier has taken before."""
    connection = await asyncpg.connect(stack.services.postgres_dsn.replace("mneme_app", "postgres", 1))
    try:
        await connection.execute(
            "INSERT INTO gateway.deliveries (tenant_id, tier, kind, subject_id, sequence, user_id, attempts,"
            " next_attempt_time, last_reason, last_detail, given_up_time, create_time)"
            " SELECT tenant_id, $2, 1, interaction_id, sequence, user_id, 12, now(), 'INTERNAL', 'out of luck', now(),"
            " now() FROM gateway.interactions WHERE user_id = $1 LIMIT 1",
            user_id,
            int(Tier.EPISODIC),
        )
    finally:
        await connection.close()


async def test_spec_9_6_a_fact_shows_what_it_said_before(page: Page, secured_stack: RunningStack) -> None:
    user_id = f"fact-{uuid.uuid4().hex[:6]}"
    async with secured_stack.client("writer") as client:
        fact = await client.create_fact(user_id, "Rex weighs 12 kg.", FactCategory.CONTEXT, confidence=0.6)
        await client.update_fact(user_id, fact.fact_id, text="Rex weighs 14 kg.", confidence=0.9)
        await client.update_fact(user_id, fact.fact_id, text="Rex weighs 15 kg.", confidence=0.8)
    await sign_in(page, secured_stack, "reader")
    text = await go(page, f"#/facts?user={user_id}&fact={fact.fact_id}")
    places = [text.index(f"Rex weighs {weight} kg.", text.index("History")) for weight in (12, 14, 15)]
    assert places == sorted(places)
    assert await page.run("document.querySelectorAll('.chart circle.mark').length") == 2
    assert await page.run("document.querySelector('.chart path.step').getAttribute('d').match(/V/g).length") == 2
    await look(page, "fact-history")


@pytest.mark.parametrize("is_dark", [False, True])
async def test_spec_9_6_every_page_fits_a_phone(
    page: Page, secured_stack: RunningStack, user: str, *, is_dark: bool
) -> None:
    await page.size(390, 844, mobile=True, dark=is_dark)
    await sign_in(page, secured_stack, "admin")
    for name in ("timeline", "search", "facts", "conflicts", "notes", "maintenance", "deliveries", "erasures", "audit"):
        await go(page, f"#/{name}?user={user}&q=dog")
        assert await page.run("document.documentElement.scrollWidth") <= 390, name
        await look(page, f"phone-{name}{'-dark' if is_dark else ''}")
    background = await page.run("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(18, 21, 27)") is is_dark
