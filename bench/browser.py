"""A headless Chromium, driven by its own protocol (CDP) over a websocket: nothing to install but the browser."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
import json
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_browser() -> str | None:
    """The program: MNEME_BROWSER, or one of the usual names."""
    return os.environ.get("MNEME_BROWSER") or next((path for name in NAMES if (path := shutil.which(name))), None)


class Page:
    """One tab."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        """Speaks with the tab by its socket."""
        self.problems: list[str] = []  # what its log says: errors, and what the policy blocked
        self._socket = socket
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}

    async def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command of the protocol."""
        number = next(self._numbers)
        self._waiting[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        return await asyncio.wait_for(self._waiting[number], 30)

    async def read(self) -> None:
        """Takes what the browser sends until it closes."""
        async for message in self._socket:
            found = json.loads(message.data)
            if (waiting := self._waiting.pop(found.get("id", 0), None)) is not None:
                waiting.set_result(found.get("result", {"error": found.get("error")}))
            self._notice(found.get("method", ""), found.get("params", {}))

    def _notice(self, method: str, parameters: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(parameters["exceptionDetails"])[:500])
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in {"error", "warning"}:
            self.problems.append(json.dumps(parameters["args"])[:500])
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.problems.append(f"{parameters['entry']['text']} {parameters['entry'].get('url', '')}")

    async def run(self, expression: str) -> Any:
        """The value of an expression in the page."""
        found = await self.send("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    async def until(self, expression: str, seconds: float = 20) -> None:
        """Returns when an expression is true."""
        try:
            async with asyncio.timeout(seconds):
                while not await self.run(f"Boolean({expression})"):  # noqa: ASYNC110 - the page has no event for it
                    await asyncio.sleep(0.02)
        except TimeoutError:
            text = await self.run("document.body.innerText")
            raise AssertionError(f"never true: {expression}\n{text}\n{self.problems}") from None

    async def show(self, url: str) -> None:
        """Opens an address."""
        await self.send("Page.navigate", url=url)

    async def click(self, text: str, within: str = "main, dialog, header") -> None:
        """Presses the last button or link with a text."""
        found = (
            f"[...document.querySelectorAll({json.dumps(within)})]"
            ".flatMap((one) => [...one.querySelectorAll('a, button, summary')])"
            f".filter((one) => one.textContent.trim() === {json.dumps(text)} && !one.disabled)"
        )
        await self.until(f"{found}.length")
        await self.run(f"{found}.at(-1).click()")

    async def key(self, key: str, code: int = 0) -> None:
        """Presses a key."""
        printed = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        await self.send("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **printed)
        await self.send("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    async def type(self, text: str) -> None:
        """Types where the focus is."""
        await self.send("Input.insertText", text=text)

    async def size(self, width: int, height: int, *, mobile: bool = False, dark: bool = False) -> None:
        """Sets the screen and the colours that the system prefers."""
        await self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.send("Emulation.setEmulatedMedia", features=[scheme])

    async def screenshot(self, file: Path) -> None:
        """Writes what is seen as PNG."""
        found = await self.send("Page.captureScreenshot", format="png")
        await asyncio.to_thread(file.write_bytes, base64.b64decode(found["data"]))


@contextlib.asynccontextmanager
async def open_page(program: str, folder: Path) -> AsyncIterator[Page]:
    """A tab of a browser of its own, with an empty profile in a folder."""
    process = await asyncio.create_subprocess_exec(
        program,
        "--headless=new",
        "--no-sandbox",  # tests may run as root, in containers without user namespaces
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--disable-background-networking",
        "--remote-debugging-port=0",
        f"--user-data-dir={folder}",
        "about:blank",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        port = await _port(folder / "DevToolsActivePort")
        async with aiohttp.ClientSession() as http:
            async with http.get(f"http://127.0.0.1:{port}/json/list") as response:
                tabs = await response.json()
            address = next(tab["webSocketDebuggerUrl"] for tab in tabs if tab["type"] == "page")
            async with http.ws_connect(address, max_msg_size=0) as socket:
                page = Page(socket)
                reading = asyncio.create_task(page.read())
                for domain in ("Page", "Runtime", "Log"):
                    await page.send(f"{domain}.enable")
                yield page
                reading.cancel()
    finally:
        process.terminate()
        await process.wait()


async def _port(file: Path) -> int:
    async with asyncio.timeout(30):
        while not (file.exists() and file.read_text("utf-8").count("\n")):  # noqa: ASYNC110, ASYNC240 - few bytes
            await asyncio.sleep(0.05)
    return int(file.read_text("utf-8").splitlines()[0])  # noqa: ASYNC240 - same
