"""The TypeScript client in a real browser, on a page of another origin than the gateway's."""

from __future__ import annotations

import json
import shutil
import sys
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from aiohttp import web

from bench.browser import Page
from services.gateway.config import GatewaySettings
from services.gateway.http.settings import HttpSettings
from tests.e2e.test_languages import CLIENTS, ROOT, SCENARIO, transcript
from tests.e2e.test_readme import run
from tests.support.stack import ANY_PORT, running_stack

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.ci("generates and compiles a client")]

STEPS = json.loads(Path(SCENARIO).read_text("utf-8"))
HTML = '<!doctype html><title>agent</title><link rel="icon" href="data:,"><script src="/scenario.js"></script>'


@pytest_asyncio.fixture(loop_scope="session")
async def origin(request: pytest.FixtureRequest) -> AsyncIterator[str]:
    """Where a page is served with what a bundler makes of the client and the scenario."""
    if shutil.which("npm") is None:
        message = "npm is not on this machine"
        pytest.fail(message) if "typescript" in request.config.getoption("--require") else pytest.skip(message)
    folder = CLIENTS / "typescript"
    await run([sys.executable, str(ROOT / "tools/languages.py"), "--require", "typescript"], seconds=600)
    await run(["npm", "run", "--silent", "--prefix", str(folder), "bundle"], seconds=120)

    async def page(_request: web.Request) -> web.Response:
        return web.Response(text=HTML, content_type="text/html")

    async def script(_request: web.Request) -> web.FileResponse:
        return web.FileResponse(folder / "dist/scenario_page.js")

    application = web.Application()
    application.router.add_get("/", page)
    application.router.add_get("/scenario.js", script)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


async def open_at(page: Page, origin: str) -> None:
    await page.show(origin)
    await page.until("window.runScenario")


def calling(http_address: str, steps: object) -> str:
    """The expression that runs the scenario in the page and is its transcript."""
    arguments = [f"http://{http_address}", None, steps, f"scenario-{uuid.uuid4().hex[:8]}"]
    return f"runScenario(...{json.dumps(arguments)}.map((value) => value ?? undefined))"


async def test_spec_9_2_a_page_whose_origin_is_named_prints_the_same_transcript(
    browser_page: Page, origin: str, tmp_path: Path, model_folder: Path
) -> None:
    gateway = GatewaySettings(http=HttpSettings(origins=(origin,)))
    async with running_stack(tmp_path / "data", model_folder, gateway=gateway, http_listen=ANY_PORT) as services:
        await open_at(browser_page, origin)
        assert await browser_page.run(calling(services.http_address, STEPS)) == transcript()
        assert not [problem for problem in browser_page.problems if "CORS" in problem]


async def test_spec_9_1_a_page_whose_origin_is_not_named_cannot_call(
    browser_page: Page, origin: str, tmp_path: Path, model_folder: Path
) -> None:
    async with running_stack(tmp_path / "data", model_folder, http_listen=ANY_PORT) as services:
        await open_at(browser_page, origin)
        steps = [{"call": "recall", "with": {"userId": "$user", "query": "Where does Ada live?"}}]
        printed = await browser_page.run(calling(services.http_address, steps))
        assert printed.startswith("recall: error ")
        assert any("CORS" in problem for problem in browser_page.problems)
