"""The clients in other languages: their own tests, the programs of their READMEs, and the scenario that all share."""

from __future__ import annotations

import re
import shutil
import sys
import uuid
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from tests.e2e.test_readme import run
from tests.support.stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")

ROOT = Path(__file__).parent.parent.parent
CLIENTS = ROOT / "clients"
SCENARIO = str(CLIENTS / "scenario.json")
QUICKSTART = re.compile(r"<!-- test: quickstart -->\n```\w+\n(.*?)```", re.DOTALL)


@dataclass(frozen=True)
class Built:
    """How the programs of a compiled client are started."""

    language: str
    compiler: str
    quickstart: list[str]
    source: Path  # of the quickstart
    scenario: list[str]


JAVA = ["java", "-cp", f"{CLIENTS}/java/target/classes:{CLIENTS}/java/target/lib/*"]
NODE = ["node", str(CLIENTS / "typescript" / "dist" / "examples")]
LANGUAGES: Mapping[str, Built] = {
    built.language: built
    for built in (
        Built(
            "go",
            "go",
            [str(CLIENTS / "go/bin/quickstart")],
            CLIENTS / "go/examples/quickstart/main.go",
            [str(CLIENTS / "go/bin/scenario")],
        ),
        Built(
            "java",
            "mvn",
            [*JAVA, "ai.mneme.examples.Quickstart"],
            CLIENTS / "java/src/main/java/ai/mneme/examples/Quickstart.java",
            [*JAVA, "ai.mneme.examples.Scenario"],
        ),
        Built(
            "typescript",
            "npm",
            [NODE[0], f"{NODE[1]}/quickstart.js"],
            CLIENTS / "typescript/examples/quickstart.ts",
            [NODE[0], f"{NODE[1]}/scenario.js", "grpc"],
        ),
    )
}


@pytest_asyncio.fixture(scope="module", loop_scope="session", params=LANGUAGES)
async def built(request: pytest.FixtureRequest) -> AsyncIterator[Built]:
    """A client, generated, compiled and tested by its own tests."""
    client = LANGUAGES[request.param]
    if shutil.which(client.compiler) is None:
        message = f"{client.language}: {client.compiler} is not on this machine"
        pytest.fail(message) if client.language in request.config.getoption("--require") else pytest.skip(message)
    await run([sys.executable, str(ROOT / "tools" / "languages.py"), "--require", client.language], seconds=600)
    yield client


@pytest.mark.parametrize("language", LANGUAGES)
async def test_spec_9_2_the_readme_shows_the_quickstart(language: str) -> None:
    shown = QUICKSTART.search((CLIENTS / language / "README.md").read_text("utf-8"))
    assert shown is not None
    assert shown[1] == LANGUAGES[language].source.read_text("utf-8")


@pytest.mark.ci("generates and compiles a client")
async def test_spec_9_2_quickstart(stack: RunningStack, built: Built) -> None:
    printed = (await run([*built.quickstart, stack.target])).splitlines()
    assert printed == ["Ada: I moved to Lisbon in March.", "conversation: monday", "error: INVALID_FIELD query"]


def transcript() -> str:
    return (CLIENTS / "transcript.txt").read_text("utf-8")


def user() -> str:
    return f"scenario-{uuid.uuid4().hex[:8]}"


async def test_spec_9_2_the_scenario_in_python(stack: RunningStack) -> None:
    assert await run([sys.executable, "-m", "tests.support.scenario", stack.target, SCENARIO, user()]) == transcript()


@pytest.mark.ci("generates and compiles a client")
async def test_spec_9_2_the_same_transcript_in_every_language(stack: RunningStack, built: Built) -> None:
    assert await run([*built.scenario, stack.target, SCENARIO, user()]) == transcript()
    if built.language == "typescript":  # the client for browsers, by HTTP
        program = [*built.scenario[:-1], "web"]
        assert await run([*program, stack.services.http_address, SCENARIO, user()]) == transcript()


@pytest.mark.ci("generates and compiles a client")
@pytest.mark.parametrize("built", ["go"], indirect=True)
async def test_spec_9_2_another_go_module_imports_the_client(built: Built, tmp_path: Path) -> None:
    module = "github.com/mneme-ai/mneme/clients/go"
    (tmp_path / "go.mod").write_text(
        f"module example.com/agent\n\ngo 1.24\n\nrequire {module} v0.0.0\n\nreplace {module} => {CLIENTS / 'go'}\n",
        "utf-8",
    )
    shutil.copy(CLIENTS / "go" / "go.sum", tmp_path)
    shutil.copy(built.source, tmp_path)
    environment = {"CGO_ENABLED": "0", "GOFLAGS": "-mod=mod"}
    await run(["go", "build", "-C", str(tmp_path), "-o", "agent", "."], environment=environment)
    assert (tmp_path / "agent").exists()
