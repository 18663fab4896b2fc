"""Source code through the gateway: what `mneme code` does, and what an erasure leaves of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import grpc
import pytest

from mneme_client import MnemeClientError
from mneme_client.enums import CodeFileStatus, RelationKind
from services.cli.commands.code import index_tree
from services.cli.source_tree import SourceTree
from tests.support.stack import RunningStack, patient_client, until

pytestmark = pytest.mark.asyncio(loop_scope="session")

DATA = Path(__file__).resolve().parents[2] / "data" / "code" / "python"


async def test_spec_3_11_a_folder_is_indexed_and_followed(stack: RunningStack, user_id: str, tmp_path: Path) -> None:
    root = tmp_path / "shop"
    shutil.copytree(DATA, root)
    (root / "notes.txt").write_text("no source code")
    (root / "node_modules").mkdir()
    (root / "node_modules" / "left.js").write_text("out();")
    tree = SourceTree(root)
    async with patient_client(stack.target) as client:
        first = await index_tree(client, user_id, "shop", tree)
        assert (first.indexed, first.removed) == (5, 0)
        assert (await index_tree(client, user_id, "shop", tree)).indexed == 0

        (root / "shop" / "tools.py").write_text("def levy(amount):\n    return amount\n")
        (root / "shop" / "base.py").rename(root / "shop" / "core.py")
        after = await index_tree(client, user_id, "shop", tree, stored=first.digests)
        assert (after.indexed, after.removed) == (2, 1)
        files = {file.path: file async for file in client.list_files(user_id, "shop")}
        assert set(files) == {"broken.py", "shop/__init__.py", "shop/core.py", "shop/orders.py", "shop/tools.py"}
        assert files["broken.py"].status is CodeFileStatus.PARTLY_PARSED
        assert [one.symbol.name for one in await client.search_symbols(user_id, "shop", "levy")] == ["levy"]

        inner = "shop/orders.py#Order.total.inner"
        calls = [one async for one in client.list_relations(user_id, "shop", inner, incoming=True)]
        assert [(one.source.path, one.kind) for one in calls] == [("shop/orders.py", RelationKind.CALLS)]
        imports = {one.module: one.paths async for one in client.list_imports(user_id, "shop", "shop/orders.py")}
        assert imports == {"__future__": (), ".": ("shop/__init__.py",), ".base": (), "shop.tools": ("shop/tools.py",)}
        path = await client.get_code_path(user_id, "shop", "shop/orders.py", inner)
        assert [one.kind for one in path] == [RelationKind.CONTAINS] * 3
        [best, *_] = await client.search_code(user_id, "shop", "levy on an amount", related_paths=["broken.py"])
        assert (best.file.path, best.parts["body"]) == ("shop/tools.py", 1.0)
        outline = await client.get_outline(user_id, "shop", token_budget=200, query="levy")
        assert "def levy(amount)" in outline.text
        assert await client.delete_repository(user_id, "shop") == 5
        assert [one async for one in client.list_repositories(user_id)] == []


async def test_spec_6_6_erasing_a_user_erases_their_code(stack: RunningStack, user_id: str) -> None:
    async with patient_client(stack.target) as client:
        await client.index_files(user_id, "r", {"a.py": b"def secret(): pass\n"})
        assert await client.search_symbols(user_id, "r", "secret")
        await client.erase_user(user_id)

        async def is_erased() -> bool:
            try:
                found = await client.search_symbols(user_id, "r", "secret")
            except MnemeClientError as error:
                return error.code is grpc.StatusCode.NOT_FOUND
            assert not found  # hidden while the erasure is pending
            return False

        await until(is_erased)
