"""The console's files, as the gateway serves them."""

from __future__ import annotations

import asyncio
import http.client
import re
from pathlib import Path

import pytest

from services.common.auth import Authenticator
from services.common.auth.authenticator import DEVELOPMENT_PRINCIPAL
from services.common.rpc.server import ServiceBinding
from services.gateway.http.console.routes import console_files
from services.gateway.http.server import http_server
from services.gateway.http.settings import HttpSettings
from tests.servicer.gateway.test_http import MEMORY, send
from tests.support.echo import EchoServicer, running_echo
from tests.support.stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")

FILES = console_files()
MARKUP = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|localStorage"
)
ELSEWHERE = re.compile(r"https?://(?!www\.w3\.org/)")


@pytest.mark.parametrize("path", sorted(FILES))
async def test_spec_9_6_each_file_is_served_with_a_strict_policy(stack: RunningStack, path: str) -> None:
    found = await send(stack.services.http_address, f"/console/{path}")
    headers = {name.lower(): value for name, value in found.headers.items()}
    assert (found.status, found.body) == (200, FILES[path].content)
    assert headers["content-type"] == FILES[path].media_type
    assert headers["x-content-type-options"] == "nosniff"
    policy = headers["content-security-policy"]
    assert "unsafe" not in policy
    for rule in ("default-src 'none'", "require-trusted-types-for 'script'", "frame-ancestors 'none'"):
        assert rule in policy


@pytest.mark.parametrize("path", sorted(FILES))
async def test_spec_9_6_nothing_makes_markup_of_text_or_loads_from_elsewhere(path: str) -> None:
    text = FILES[path].content.decode()
    assert not MARKUP.search(text)
    assert not ELSEWHERE.search(text)
    assert not re.search(r"<script(?![^>]*src=)|\bon\w+=\"|style=\"", text)
    assert text.count("\n") <= 400


async def test_spec_9_6_the_console_is_found_and_asked_for_again(stack: RunningStack) -> None:
    address = stack.services.http_address
    page = await send(address, "/console")  # follows the redirect
    assert page.body == FILES["index.html"].content
    assert (await send(address, "/")).body == page.body, "the address that `mneme up` prints shows something"
    again = await send(address, "/console/app.js", if_none_match=FILES["app.js"].etag)
    assert (again.status, again.body) == (304, b"")


@pytest.mark.parametrize(
    "path",
    [
        "/console/../openapi.json",
        "/console/..%2f..%2fsettings.py",
        "/console/%2e%2e/routes.py",
        "/console/..\\routes.py",
        "/console//etc/passwd",
        "/console/routes.py",
        "/console/pages",
        "/console/app.js%00.html",
    ],
)
async def test_spec_9_6_no_path_leads_out_of_the_console(stack: RunningStack, path: str) -> None:
    def status() -> int:
        connection = http.client.HTTPConnection(stack.services.http_address, timeout=10)
        connection.request("GET", path)  # as it stands: nothing normalises it on the way
        found = connection.getresponse().status
        connection.close()
        return found

    assert await asyncio.to_thread(status) == 404


async def test_spec_9_6_responses_of_calls_are_not_stored(stack: RunningStack) -> None:
    found = await send(stack.services.http_address, f"/{MEMORY}/Recall", {"userId": "u"})
    headers = {name.lower(): value for name, value in found.headers.items()}
    assert (headers["cache-control"], headers["x-content-type-options"]) == ("no-store", "nosniff")


async def test_spec_9_6_the_console_can_be_switched_off() -> None:
    authenticator = Authenticator(development_principal=DEVELOPMENT_PRINCIPAL)
    services = [ServiceBinding(MEMORY, lambda *_: None, None, {})]
    async with (
        running_echo(EchoServicer(), authenticator) as running,
        http_server("127.0.0.1:0", services, running.server, HttpSettings(serves_console=False)) as address,
    ):
        assert (await send(address, "/console/")).status == 404
        assert (await send(address, "/health")).status == 200


async def test_spec_9_6_every_file_of_the_folder_is_packed() -> None:
    folder = Path(__file__).parents[3] / "services/gateway/http/console/static"
    assert {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()} == FILES.keys()
