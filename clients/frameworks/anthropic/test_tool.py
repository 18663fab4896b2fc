"""The tool beside the SDK's own one on a file system, against a running gateway at MNEME_TARGET."""

from __future__ import annotations

import asyncio
import os
import random
import re
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from anthropic.lib.tools import ToolError
from anthropic.lib.tools._beta_builtin_memory_tool import BetaLocalFilesystemMemoryTool
from mneme_anthropic import AsyncMnemeMemoryTool, MnemeMemoryTool

from mneme_client import Client, DocumentName, PutDocument, SyncClient


@pytest.fixture
def user_id() -> str:
    return f"anthropic-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def client() -> Iterator[SyncClient]:
    with SyncClient(os.environ["MNEME_TARGET"]) as opened:
        yield opened


@pytest_asyncio.fixture
async def aclient() -> AsyncIterator[Client]:
    async with Client(os.environ["MNEME_TARGET"]) as opened:
        yield opened


@pytest.fixture
def tool(client: SyncClient, user_id: str) -> MnemeMemoryTool:
    return MnemeMemoryTool(client, user_id)


def outcome(tool: Any, command: dict[str, Any]) -> str:
    """What a command says; sizes of folders are those of the file system, and so left out."""
    try:
        said = str(tool.call(command))
    except ToolError as error:
        return f"error: {error}"
    except OSError:
        return "error"  # the file system's own, which the SDK does not put into words
    if said.startswith("Here're the files"):
        said = re.sub(r"\A(.*\n)\S+\t", r"\1-\t", said)
        said = re.sub(r"^\S+\t(.*/)$", r"-\t\1", said, flags=re.MULTILINE)
    return said


def same(tool: MnemeMemoryTool, own: BetaLocalFilesystemMemoryTool, command: dict[str, Any]) -> str:
    expected, said = outcome(own, command), outcome(tool, command)
    if expected == "error":
        assert said.startswith("error"), command
    else:
        assert said == expected, command
    return said


def command(name: str, path: str = "", **fields: Any) -> dict[str, Any]:
    return {"command": name, **({"path": path} if path else {}), **fields}


FIRST: list[dict[str, Any]] = [
    command("view", "/memories"),
    command("create", "/memories/a.md", file_text="one\ntwo\nthree\n"),
    command("create", "/memories/a.md", file_text="again"),
    command("view", "/memories/a.md"),
    command("view", "/memories/a.md", view_range=[2, 3]),
    command("view", "/memories/a.md", view_range=[2, -1]),
    command("view", "/memories/a.md", view_range=[0, 99]),
    command("str_replace", "/memories/a.md", old_str="two", new_str="2\n2.5"),
    command("str_replace", "/memories/a.md", old_str="missing", new_str=""),
    command("str_replace", "/memories/a.md", old_str="e", new_str="E"),
    command("insert", "/memories/a.md", insert_line=0, insert_text="zero\n"),
    command("insert", "/memories/a.md", insert_line=5, insert_text="last"),
    command("insert", "/memories/a.md", insert_line=99, insert_text="x"),
    command("insert", "/memories/a.md", insert_line=-1, insert_text="x"),
    command("view", "/memories/a.md"),
    command("create", "/memories/deep/er/est/b.txt", file_text=""),
    command("create", "/memories/deep/.hidden/c.txt", file_text="secret"),
    command("create", "/memories/deep/ünï cödé.txt", file_text="é" * 700),
    command("create", "/memories/deep.txt", file_text="x" * 1_536),
    command("create", "/memories/crlf.txt", file_text="a\r\nb\rc\n"),
    command("view", "/memories/crlf.txt"),
    command("str_replace", "/memories/crlf.txt", old_str="b", new_str="B"),
    command("view", "/memories"),
    command("view", "/memories/"),
    command("view", "/memories/deep"),
    command("view", "/memories/deep/er/"),
    command("view", "/memories/missing"),
    command("view", "/memories/a.md/x"),
    command("view", "/elsewhere"),
    command("view", "/memories/../../etc/passwd"),
    command("view", "/memories/deep/../a.md"),
    command("create", "/memories/a.md/x.md", file_text="x"),
    command("create", "/memories/deep", file_text="x"),
    command("str_replace", "/memories/deep", old_str="a", new_str="b"),
    command("insert", "/memories/missing.md", insert_line=0, insert_text="x"),
    command("rename", old_path="/memories/a.md", new_path="/memories/deep/er/a.md"),
    command("rename", old_path="/memories/deep.txt", new_path="/memories/a.md"),
    command("rename", old_path="/memories/a.md", new_path="/memories/deep"),
    command("rename", old_path="/memories/missing", new_path="/memories/deep/x"),
    command("rename", old_path="/memories", new_path="/memories/deep/x"),
    command("rename", old_path="/memories/deep", new_path="/memories/deep/inside"),
    command("rename", old_path="/memories/deep", new_path="/memories/new/place"),
    command("view", "/memories/new"),
    command("delete", "/memories/new/place/er/est/b.txt"),
    command("view", "/memories/new/place"),
    command("delete", "/memories/new/place/er"),
    command("delete", "/memories/missing"),
    command("delete", "/memories"),
    command("view", "/memories"),
    command("delete", "/memories/new"),
    command("view", "/memories"),
]


def test_spec_9_4_commands_say_what_the_file_system_tool_says(tool: MnemeMemoryTool, tmp_path: Path) -> None:
    own = BetaLocalFilesystemMemoryTool(str(tmp_path))
    for one in FIRST:
        same(tool, own, one)
    assert tool.clear_all_memory() == own.clear_all_memory()
    same(tool, own, command("view", "/memories"))


@pytest.mark.parametrize("seed", range(3))
def test_spec_9_4_random_commands_say_what_the_file_system_tool_says(
    tool: MnemeMemoryTool, tmp_path: Path, seed: int
) -> None:
    own = BetaLocalFilesystemMemoryTool(str(tmp_path))
    chance = random.Random(seed)  # noqa: S311 - commands, no secrets
    root = tmp_path / "memories"

    def path() -> str:
        return "/".join(["/memories", *chance.choices("abc", k=chance.randint(1, 3))])

    def existing_folder() -> str:
        folders = [root, *(one for one in root.rglob("*") if one.is_dir())]
        return "/memories" + str(chance.choice(folders))[len(str(root)) :]

    done = 0
    for _ in range(250):
        kind = chance.choice(["create", "create", "view", "str_replace", "insert", "delete", "rename", "rename"])
        # The file system makes missing folders of a new path also where the command then fails: not asked for.
        if kind == "rename":
            new = f"{existing_folder()}/{chance.choice('abc')}"
            made = command("rename", old_path=path(), new_path=new)
        elif kind == "create":
            made = command("create", path(), file_text=chance.choice(["", "x\ny\n", "x\nx", "y"]))
        elif kind == "str_replace":
            made = command(kind, path(), old_str=chance.choice("xyz"), new_str=chance.choice(["x", "y\nz", ""]))
        elif kind == "insert":
            made = command(kind, path(), insert_line=chance.randint(0, 3), insert_text=chance.choice(["x", "z\n"]))
        else:
            made = command(kind, path())
        done += not same(tool, own, made).startswith("error")
        same(tool, own, command("view", "/memories"))
    assert done > 30


def test_spec_9_4_what_cannot_be_stored_is_told_to_the_model(tool: MnemeMemoryTool) -> None:
    with pytest.raises(ToolError, match="bytes"):
        tool.call(command("create", "/memories/long.txt", file_text="x" * 300_000))
    with pytest.raises(ToolError, match="control character"):
        tool.call(command("create", "/memories/a\nb.txt", file_text="x"))
    with pytest.raises(ToolError, match="must start with"):
        tool.call(command("view", "/memories_of_others/a"))
    with pytest.raises(ToolError, match="Cannot delete"):
        tool.call(command("delete", "/memories/"))


def test_spec_9_4_users_and_namespaces_have_files_of_their_own(client: SyncClient, user_id: str) -> None:
    first = MnemeMemoryTool(client, user_id)
    others = [MnemeMemoryTool(client, f"{user_id}-2"), MnemeMemoryTool(client, user_id, namespace=("memories", "x"))]
    first.call(command("create", "/memories/a.md", file_text="1"))
    for other in others:
        assert "does not exist" in outcome(other, command("view", "/memories/a.md"))
        other.call(command("create", "/memories/a.md", file_text="2"))
    assert first.call(command("view", "/memories")).count("\n") == 2
    client.write_documents(user_id, [PutDocument(DocumentName(("memories",), "plain"), "not made by the tool")])
    assert "0B\t/memories/plain" in first.call(command("view", "/memories"))


async def test_spec_9_4_edits_of_one_file_follow_one_another(aclient: Client, user_id: str) -> None:
    tools = [AsyncMnemeMemoryTool(aclient, user_id) for _ in range(3)]
    await tools[0].call(command("create", "/memories/list.md", file_text="begin\n"))
    insert = command("insert", "/memories/list.md", insert_line=1, insert_text="x")
    await asyncio.gather(*(tool.call(insert) for tool in tools))
    assert (await tools[0].call(command("view", "/memories/list.md"))).count("x") == 3
    renames = [
        tool.call(command("rename", old_path="/memories/list.md", new_path=f"/memories/{i}.md"))
        for i, tool in enumerate(tools)
    ]
    outcomes = await asyncio.gather(*renames, return_exceptions=True)
    assert sorted(isinstance(one, ToolError) for one in outcomes) == [False, True, True]
    (moved,) = re.findall(r"/memories/\S+", await tools[0].call(command("view", "/memories")))
    await tools[0].call(command("str_replace", moved, old_str="begin", new_str="end"))
    assert await tools[0].clear_all_memory() == "All memory cleared"
    assert tools[0].to_dict() == {"type": "memory_20250818", "name": "memory"}
