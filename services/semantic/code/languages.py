"""Languages: by which names files belong to them, and their grammars."""

from __future__ import annotations

import importlib
import posixpath
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from tree_sitter import Language, Parser, Query

_QUERIES: Final = Path(__file__).parent / "queries"


@dataclass(frozen=True, slots=True)
class LanguageSpec:
    """A language with a grammar."""

    name: str
    module: str
    """The package that carries the grammar."""
    extensions: tuple[str, ...]
    function: str = "language"
    """What the package calls the grammar."""
    query: str = ""
    """Name of the file with its queries, where it is not the language's."""
    common_query: str = ""
    """Name of a file with more, which several languages share."""


SPECS: Final = (
    LanguageSpec("python", "tree_sitter_python", (".py", ".pyi", ".pyw")),
    LanguageSpec("javascript", "tree_sitter_javascript", (".js", ".jsx", ".mjs", ".cjs"), common_query="scripts"),
    LanguageSpec(
        "typescript", "tree_sitter_typescript", (".ts", ".mts", ".cts"), "language_typescript", "typescript", "scripts"
    ),
    LanguageSpec("tsx", "tree_sitter_typescript", (".tsx",), "language_tsx", "typescript", "scripts"),
    LanguageSpec("go", "tree_sitter_go", (".go",)),
    LanguageSpec("java", "tree_sitter_java", (".java",)),
    LanguageSpec("rust", "tree_sitter_rust", (".rs",)),
    LanguageSpec("c", "tree_sitter_c", (".c",)),
    LanguageSpec(
        "cpp", "tree_sitter_cpp", (".cc", ".cpp", ".cxx", ".c++", ".h", ".hh", ".hpp", ".hxx", ".ipp", ".inl")
    ),
    LanguageSpec("csharp", "tree_sitter_c_sharp", (".cs",)),
    LanguageSpec("ruby", "tree_sitter_ruby", (".rb", ".rake", ".gemspec", ".ru")),
)

_TEXT: Final = {
    ".php": "php", ".swift": "swift", ".kt": "kotlin", ".kts": "kotlin", ".scala": "scala", ".sc": "scala",
    ".lua": "lua", ".ex": "elixir", ".exs": "elixir", ".erl": "erlang", ".hs": "haskell", ".ml": "ocaml",
    ".mli": "ocaml", ".clj": "clojure", ".cljs": "clojure", ".dart": "dart", ".zig": "zig", ".jl": "julia",
    ".r": "r", ".R": "r", ".pl": "perl", ".pm": "perl", ".sh": "shell", ".bash": "shell", ".zsh": "shell",
    ".m": "objective-c", ".mm": "objective-c", ".groovy": "groovy", ".gradle": "groovy", ".fs": "fsharp",
    ".fsx": "fsharp", ".vb": "visual-basic", ".nim": "nim", ".cr": "crystal", ".v": "v", ".sol": "solidity",
    ".vue": "vue", ".svelte": "svelte", ".sql": "sql", ".proto": "protobuf", ".pyx": "cython", ".pxd": "cython",
    ".f90": "fortran", ".f": "fortran", ".el": "lisp", ".lisp": "lisp", ".scm": "scheme", ".ps1": "powershell",
    ".elm": "elm", ".coffee": "coffeescript", ".astro": "astro", ".graphql": "graphql", ".thrift": "thrift",
    ".cu": "cuda", ".cuh": "cuda", ".tf": "terraform", ".d": "d", ".pas": "pascal",
}  # fmt: skip
"""Languages without a grammar: their definitions are found by their lines."""

MANIFEST_NAME: Final = re.compile(r"package\.json|[jt]sconfig(\.[\w.-]+)?\.json|Cargo\.toml")
"""Files that say by which names others are imported."""

_BY_EXTENSION: Final = {extension: spec for spec in SPECS for extension in spec.extensions}


@dataclass(frozen=True, slots=True)
class Grammar:
    """What parses a language."""

    spec: LanguageSpec
    parser: Parser
    query: Query


def spec_of(path: str) -> LanguageSpec | None:
    """The language of a file that has a grammar; None without one."""
    return _BY_EXTENSION.get(posixpath.splitext(path)[1].lower())


def language_of(path: str) -> str:
    """The language of a file, with a grammar or without; empty where it is none that is known."""
    spec = spec_of(path)
    if spec is not None:
        return "typescript" if spec.name == "tsx" else spec.name
    suffix = posixpath.splitext(path)[1]
    if MANIFEST_NAME.fullmatch(posixpath.basename(path)):
        return suffix[1:]
    return _TEXT.get(suffix) or _TEXT.get(suffix.lower(), "")


@cache
def grammar_of(spec: LanguageSpec) -> Grammar:
    """The grammar of a language, loaded with its first file. Belongs to the thread that uses it."""
    language = Language(getattr(importlib.import_module(spec.module), spec.function)())
    names = (spec.query or spec.name, spec.common_query)
    source = "\n".join((_QUERIES / f"{name}.scm").read_text(encoding="utf-8") for name in names if name)
    return Grammar(spec, Parser(language), Query(language, source))
