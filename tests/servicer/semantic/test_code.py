"""The code graph on a real gRPC server."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import grpc
import pytest

from mneme.semantic.v1 import code_pb2 as pb
from tests.servicer.semantic.conftest import ANN, OTHER_TENANT, Running
from tests.servicer.semantic.refusals import refused

DATA = Path(__file__).resolve().parents[2] / "data" / "code"


def upload(folder: str, *, request_id: str = "u1", user_id: str = "ada", **more: Any) -> pb.IndexFilesRequest:
    root = DATA / folder
    files = [
        pb.SourceFile(path=path.relative_to(root).as_posix(), content=path.read_bytes())
        for path in sorted(root.rglob("*"))
        if path.is_file()
    ]
    return pb.IndexFilesRequest(request_id=request_id, user_id=user_id, repository_id="shop", files=files, **more)


def named(**fields: Any) -> Any:
    return {"user_id": "ada", "repository_id": "shop", **fields}


async def relations(running: Running, node: str, direction: int, *kinds: int) -> list[tuple[str, str]]:
    request = pb.ListRelationsRequest(**named(node=node, direction=direction, kinds=kinds))
    found = (await running.code.ListRelations(request, metadata=ANN)).relations
    return [(getattr(one, "from").symbol.qualified_name, one.to.symbol.qualified_name) for one in found]


async def test_spec_3_11_a_repository_is_indexed_and_asked(running: Running) -> None:
    indexed = await running.code.IndexFiles(upload("python"), metadata=ANN)
    assert {one.path: one.file.language for one in indexed.results}["shop/orders.py"] == "python"
    assert indexed.repository.file_count == 5

    files = await running.code.ListFiles(pb.ListFilesRequest(**named(page_size=2)), metadata=ANN)
    rest = await running.code.ListFiles(
        pb.ListFilesRequest(**named(page_token=files.next_page_token)),
        metadata=ANN,
    )
    assert [file.path for file in (*files.files, *rest.files)] == sorted(one.path for one in indexed.results)

    symbols = await running.code.ListSymbols(pb.ListSymbolsRequest(**named(path="shop/tools.py")), metadata=ANN)
    assert [one.symbol_id for one in symbols.symbols] == ["shop/tools.py#tax", "shop/tools.py#square"]

    total = "shop/orders.py#Order.total"
    assert ("tax", "Order.total") in await relations(
        running, total, pb.RELATION_DIRECTION_INCOMING, pb.RELATION_KIND_CALLS
    )
    callees = await relations(running, total, pb.RELATION_DIRECTION_OUTGOING, pb.RELATION_KIND_CALLS)
    assert {to for _, to in callees} == {"Order.total.inner", "Base.save", "tax"}
    request = pb.ListRelationsRequest(
        **named(node="shop/orders.py", direction=pb.RELATION_DIRECTION_OUTGOING, kinds=[pb.RELATION_KIND_IMPORTS])
    )
    imports = (await running.code.ListRelations(request, metadata=ANN)).relations
    assert {one.to.path for one in imports} == {"shop/base.py", "shop/tools.py"}

    path = await running.code.GetCodePath(
        pb.GetCodePathRequest(**named(from_node="shop/tools.py#tax", to_node="shop/base.py#Base.validate")),
        metadata=ANN,
    )
    steps = [(getattr(one, "from").symbol.symbol_id, one.to.symbol.symbol_id) for one in path.relations]
    assert (steps[0][0], steps[-1][1], len(steps)) == ("shop/tools.py#tax", "shop/base.py#Base.validate", 3)
    assert all(before[1] == after[0] for before, after in itertools.pairwise(steps))


async def test_spec_3_11_imports_from_the_repository_and_from_outside_are_listed(running: Running) -> None:
    await running.code.IndexFiles(upload("python"), metadata=ANN)
    request = pb.ListImportsRequest(**named(path="shop/orders.py", page_size=3))
    page = await running.code.ListImports(request, metadata=ANN)
    request.page_token = page.next_page_token
    rest = await running.code.ListImports(request, metadata=ANN)
    found = [(one.module, one.name, one.alias, one.line, list(one.paths)) for one in (*page.imports, *rest.imports)]
    assert found == [
        ("__future__", "annotations", "annotations", 1, []),
        (".", "base", "b", 3, ["shop/base.py"]),
        (".base", "LIMIT", "LIMIT", 4, ["shop/base.py"]),
        (".base", "Base", "Base", 4, ["shop/base.py"]),
        ("shop.tools", "", "tools", 5, ["shop/tools.py"]),
    ]
    assert not rest.next_page_token
    request.path = "shop/gone.py"
    request.page_token = ""
    code, *_ = await refused(running.code.ListImports(request, metadata=ANN))
    assert code is grpc.StatusCode.NOT_FOUND


@pytest.mark.parametrize(
    ("query", "first"), [("validate", "validate"), ("ORDER", "Order"), ("Base.save", "save"), ("sqaure", "square")]
)
async def test_spec_3_11_symbols_are_found_by_name(running: Running, query: str, first: str) -> None:
    await running.code.IndexFiles(upload("python"), metadata=ANN)
    found = await running.code.SearchSymbols(pb.SearchSymbolsRequest(**named(query=query)), metadata=ANN)
    assert found.matches[0].symbol.name == first


async def test_spec_3_11_relevant_code_is_found_and_explained(running: Running) -> None:
    await running.code.IndexFiles(upload("python"), metadata=ANN)
    request = pb.SearchCodeRequest(**named(query="Where is the tax of an order computed?"))
    found = (await running.code.SearchCode(request, metadata=ANN)).matches
    assert found[0].file.path == "shop/tools.py"
    assert "tax" in found[0].terms
    assert found[0].symbols[0].name == "tax"
    assert found[0].parts.body == 1.0
    outline = await running.code.GetOutline(pb.GetOutlineRequest(**named(token_budget=60)), metadata=ANN)
    assert 0 < outline.token_count <= 60
    assert ".py:" in outline.text


async def test_spec_1_9_relevant_code_comes_with_its_lines(running: Running) -> None:
    await running.code.IndexFiles(upload("python"), metadata=ANN)
    request = pb.SearchCodeRequest(**named(query="Where is the tax of an order computed?", limit=2, lines_max=20))
    found = (await running.code.SearchCode(request, metadata=ANN)).matches
    lines = (DATA / "python" / "shop" / "tools.py").read_text("utf-8").splitlines()
    assert found[0].excerpts
    for part in found[0].excerpts:
        assert part.text.splitlines() == lines[part.start_line - 1 : part.end_line]
    assert any("def tax" in part.text for part in found[0].excerpts)
    assert all(sum(part.end_line - part.start_line + 1 for part in one.excerpts) <= 20 for one in found)
    request.lines_max = 401
    assert (await refused(running.code.SearchCode(request, metadata=ANN)))[2] == {"lines_max"}


async def test_spec_1_9_files_that_fit_less_come_with_fewer_lines(running: Running) -> None:
    await running.code.IndexFiles(upload("python"), metadata=ANN)
    request = pb.SearchCodeRequest(**named(query="What do Order, Base and tax do?", lines_max=8, lines_min=3))
    found = (await running.code.SearchCode(request, metadata=ANN)).matches
    lines = [sum(part.end_line - part.start_line + 1 for part in one.excerpts) for one in found]
    assert len(lines) >= 3
    assert lines[:3] == [8, 4, 3]
    assert max(lines[3:], default=0) <= 3
    request.lines_min = 9
    assert (await refused(running.code.SearchCode(request, metadata=ANN)))[2] == {"lines_min"}


async def test_spec_3_11_only_changed_files_are_parsed_again_and_removed_ones_are_gone(running: Running) -> None:
    first = await running.code.IndexFiles(upload("python"), metadata=ANN)
    again = await running.code.IndexFiles(upload("python", request_id="u2"), metadata=ANN)
    assert again.repository.revision == first.repository.revision == 1
    search = pb.SearchSymbolsRequest(**named(query="renamed"))
    assert not (await running.code.SearchSymbols(search, metadata=ANN)).matches
    changed = pb.IndexFilesRequest(
        **named(
            request_id="u3",
            files=[pb.SourceFile(path="shop/tools.py", content=b"def renamed():\n    pass\n")],
            removed_paths=["shop/base.py"],
        )
    )
    assert (await running.code.IndexFiles(changed, metadata=ANN)).removed == 1
    [match] = (await running.code.SearchSymbols(search, metadata=ANN)).matches
    assert match.symbol.path == "shop/tools.py"
    gone = await running.code.SearchSymbols(pb.SearchSymbolsRequest(**named(query="validate")), metadata=ANN)
    assert not gone.matches


async def test_spec_3_11_binary_generated_and_vendored_files_are_left_out(running: Running) -> None:
    files = {
        "a.py": b"x\0y",
        "b_pb2.py": b"x = 1\n",
        "c.go": b"// Code generated by stringer. DO NOT EDIT.\n",
        "node_modules/d.js": b"x\n",
        "e.py": b"x = 1\n",
    }
    request = pb.IndexFilesRequest(
        **named(request_id="u1", files=[pb.SourceFile(path=path, content=content) for path, content in files.items()])
    )
    results = (await running.code.IndexFiles(request, metadata=ANN)).results
    assert [one.path for one in results if one.WhichOneof("outcome") == "file"] == ["e.py"]


async def test_spec_7_1_another_tenant_finds_nothing(running: Running) -> None:
    await running.code.IndexFiles(upload("python"), metadata=ANN)
    code, *_ = await refused(
        running.code.SearchSymbols(pb.SearchSymbolsRequest(**named(query="tax")), metadata=OTHER_TENANT)
    )
    assert code is grpc.StatusCode.NOT_FOUND


@pytest.mark.parametrize("path", ["/etc/passwd", "../x.py", "a//b.py", "a\\b.py", ""])
async def test_spec_7_2_a_path_outside_of_the_repository_is_refused(running: Running, path: str) -> None:
    request = pb.IndexFilesRequest(**named(request_id="u1", files=[pb.SourceFile(path=path, content=b"x")]))
    code, _, paths = await refused(running.code.IndexFiles(request, metadata=ANN))
    assert (code, paths) == (grpc.StatusCode.INVALID_ARGUMENT, {"files[0].path"})
