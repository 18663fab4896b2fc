"""Imports by the names that manifests give: paths of TypeScript, packages of workspaces, crates."""

from __future__ import annotations

import json

import pytest

from services.semantic.code.config import CodeRankingSettings
from services.semantic.code.exclusion import path_refusal
from services.semantic.code.graph import CodeGraph
from services.semantic.code.manifests import read_manifest
from services.semantic.code.model import FileStatus
from services.semantic.code.parser import parse_file
from services.semantic.code.question import question_of
from services.semantic.code.repository import RepositoryIndex
from tests.support.code import imports_of, relations_of

MONEY = "export function round(cents: number) { return cents; }\n"


def _using(module: str) -> str:
    return f'import {{ round }} from "{module}";\nexport function total() {{ return round(1); }}\n'


@pytest.mark.parametrize(
    ("configurations", "target"),
    [
        ({"tsconfig.json": '{"compilerOptions": {"paths": {"@app/*": ["src/*"]}}}'}, "src/money.ts"),
        ({"tsconfig.json": '{"compilerOptions": {"baseUrl": "src", "paths": {"@app/*": ["./core/*"],}}} // x'},
         "src/core/money.ts"),
        ({"jsconfig.json": '{"compilerOptions": {"paths": {"@app/money": ["lib/cash.ts"]}}}'}, "lib/cash.ts"),
        ({"tsconfig.json": '{"references": [{"path": "./tsconfig.app.json"}]}',
          "tsconfig.app.json": '{"compilerOptions": {"paths": {"@app/*": ["src/*"]}}}'}, "src/money.ts"),
        ({"web/tsconfig.json": '{/* of all */ "extends": "../config/tsconfig.base"}',
          "config/tsconfig.base.json": '{"compilerOptions": {"paths": {"@app/*": ["../src/*"]}}}'}, "src/money.ts"),
    ],
)  # fmt: skip
def test_spec_3_11_mapped_paths_of_typescript_mean_files(configurations: dict[str, str], target: str) -> None:
    files = {**configurations, "web/cart.ts": _using("@app/money"), "other/deep/money.ts": MONEY}
    files[target] = MONEY
    assert imports_of(files, "web/cart.ts") == {"@app/money": [target]}
    assert relations_of(files)["calls total round"] == 0.95


def test_spec_3_11_the_base_folder_of_typescript_is_where_plain_names_stand() -> None:
    files = {
        "tsconfig.json": '{"compilerOptions": {"baseUrl": "./src"}}',
        "src/core/money.ts": MONEY,
        "src/web/cart.ts": _using("core/money"),
        "src/web/core/money.ts": MONEY,
    }
    assert imports_of(files, "src/web/cart.ts") == {"core/money": ["src/core/money.ts"]}


@pytest.mark.parametrize(
    ("manifest", "module", "target"),
    [
        ({}, "@acme/b", "src/index.ts"),
        ({"main": "dist/index.js", "types": "dist/index.d.ts"}, "@acme/b", "src/index.ts"),
        ({"main": "./lib/money.js"}, "@acme/b", "lib/money.js"),
        ({"exports": "./code/main.ts"}, "@acme/b", "code/main.ts"),
        ({"exports": {"import": "./dist/esm/entry.mjs", "require": "./dist/cjs/entry.cjs"}}, "@acme/b", "src/entry.ts"),
        ({"exports": {".": "./a.ts", "./cash": {"types": "./dist/money.d.ts"}}}, "@acme/b/cash", "src/money.ts"),
        ({"exports": {"./*": "./dist/*.js"}}, "@acme/b/money", "src/money.ts"),
        ({}, "@acme/b/money", "src/money.ts"),
        ({}, "@acme/b/src/money.js", "src/money.ts"),
    ],
)
def test_spec_3_11_packages_of_a_workspace_mean_files(manifest: dict[str, object], module: str, target: str) -> None:
    files = {
        "packages/money/package.json": json.dumps({"name": "@acme/b", **manifest}),
        f"packages/money/{target}": MONEY,
        "packages/cart/package.json": '{"name": "@acme/cart"}',
        "packages/cart/src/cart.ts": _using(module),
    }
    assert imports_of(files, "packages/cart/src/cart.ts") == {module: [f"packages/money/{target}"]}
    assert relations_of(files)["calls total round"] == 0.95


def test_spec_3_11_own_imports_of_a_package_mean_files() -> None:
    files = {"package.json": '{"imports": {"#core/*": "./src/core/*.js"}}', "src/core/money.ts": MONEY}
    files["src/cart.ts"] = _using("#core/money")
    assert imports_of(files, "src/cart.ts") == {"#core/money": ["src/core/money.ts"]}


def test_spec_3_11_a_changed_manifest_changes_what_imports_mean() -> None:
    graph = CodeGraph()
    for path in ("old/money.ts", "new/money.ts"):
        graph.put(parse_file(path, MONEY.encode()))
    graph.put(parse_file("cart.ts", _using("@app/money").encode()))
    for folder in ("old", "new"):
        source = json.dumps({"compilerOptions": {"paths": {"@app/*": [f"{folder}/*"]}}})
        graph.put(parse_file("tsconfig.json", source.encode()))
        assert [list(paths) for _, paths in graph.imports_of("cart.ts")] == [[f"{folder}/money.ts"]]
    graph.drop("tsconfig.json")
    assert [list(paths) for _, paths in graph.imports_of("cart.ts")] == [[]]


def test_spec_3_11_manifests_are_indexed_and_are_no_results_of_a_search() -> None:
    index = RepositoryIndex(CodeRankingSettings(), epoch=0)
    for path, text in {"a/package.json": '{"name": "money"}', "money.ts": MONEY}.items():
        assert path_refusal(path) == ""
        index.put(parse_file(path, text.encode()))
    assert index.graph.file("a/package.json") is not None
    assert [path for path, _ in index.ranked_paths(question_of("package money"))] == ["money.ts"]
    assert [path for path, _ in index.ranked_paths(None)] == ["money.ts"]
    index.drop("a/package.json")
    assert path_refusal("package-lock.json")
    assert path_refusal("data.json")


@pytest.mark.parametrize("text", ["", "[]", "{", '{"name": 3, "exports": [[{}]], "main": null}', "\0", '{"a": "\\'])
@pytest.mark.parametrize("path", ["package.json", "tsconfig.json", "Cargo.toml"])
def test_spec_3_11_manifests_that_cannot_be_read_say_nothing(path: str, text: str) -> None:
    assert not read_manifest(path, text.encode()).package
    nested = parse_file(path, b"a = " + b"[" * 100_000)
    assert (nested.status, nested.package) == (FileStatus.PARSED, "")


def test_spec_3_11_crates_from_outside_are_no_files_of_the_repository() -> None:
    files = {
        "Cargo.toml": '[package]\nname = "shop"\n',
        "src/lib.rs": "use serde::Deserialize;\nuse std::fmt;\nuse money::Cash;\nmod money;\n",
        "src/money.rs": "use crate::total;\nuse rand::random;\npub struct Cash;\n",
    }
    assert imports_of(files, "src/lib.rs") == {
        "serde": [], "std": [], "money": ["src/money.rs"], "self::money": ["src/money.rs"],
    }  # fmt: skip
    assert imports_of(files, "src/money.rs") == {"crate": ["src/lib.rs"], "rand": []}


def test_spec_3_11_crates_are_found_by_the_name_of_their_package() -> None:
    files = {
        "crates/core/Cargo.toml": '[package]\nname = "shop-money"\n',
        "crates/core/src/lib.rs": "pub fn round() {}\npub mod cash;\n",
        "crates/core/src/cash.rs": "pub fn count() {}\n",
        "crates/app/Cargo.toml": '[package]\nname = "app"\n[lib]\nname = "shop_app"\npath = "code/start.rs"\n',
        "crates/app/src/main.rs": "use shop_money::round;\nuse shop_money::cash::count;\nuse shop_app::run;\n"
        "fn main() { round(); count(); run(); shop_money::cash::count(); }\n",
        "crates/app/code/start.rs": "pub fn run() {}\n",
    }
    assert imports_of(files, "crates/app/src/main.rs") == {
        "shop_money": ["crates/core/src/lib.rs"],
        "shop_money::cash": ["crates/core/src/cash.rs"],
        "shop_app": ["crates/app/code/start.rs"],
    }
    found = relations_of(files)
    assert [found[f"calls main {name}"] for name in ("round", "run")] == [0.95, 0.95]
    assert found["calls main count"] >= 0.9
