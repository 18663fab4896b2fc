"""From the module that an import names to the files that it means."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from services.semantic.code.manifests import is_manifest
from services.semantic.code.model import Import, ParsedFile
from services.semantic.code.packages import Packages

SCRIPT_LANGUAGES: Final = ("javascript", "typescript")
_PATHS_MAX: Final = 200
_SCRIPTS: Final = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts")
_COMPILED: Final = (".d.ts", ".d.mts", ".d.cts", ".js", ".mjs", ".cjs", ".jsx")
"""Endings that an import may have where the source has another one."""
_FOLDER_IS_PACKAGE: Final = {"go": ".go", "java": ".java"}
_INDEXES: Final = tuple(f"/index{extension}" for extension in _SCRIPTS)
_NODE: Final = frozenset(
    """
    assert async_hooks buffer child_process cluster constants crypto dgram dns domain events fs http http2 https
    inspector module net os path perf_hooks process punycode querystring readline repl stream string_decoder timers
    tls tty url util v8 vm worker_threads zlib
    """.split()  # noqa: SIM905
)
"""Modules of Node.js, which files of the repository may be named like."""


class Modules:
    """Finds files by how other files name them. Knows the files that were added and not removed."""

    def __init__(self) -> None:
        """No files yet."""
        self._paths: set[str] = set()
        self._by_name: dict[str, set[str]] = defaultdict(set)
        self._by_folder: dict[str, set[str]] = defaultdict(set)
        self._by_folder_name: dict[str, set[str]] = defaultdict(set)
        self._by_package: dict[str, set[str]] = defaultdict(set)
        self._packages = Packages()
        # What follows is cached until the paths change.
        self._found: dict[tuple[str, str, str], Sequence[str]] = {}
        self._siblings: dict[tuple[str, str], Sequence[str]] = {}

    def add(self, file: ParsedFile) -> None:
        """Know a file."""
        self._discard()
        if is_manifest(file.path):
            self._packages.add(file)
            return
        folder, name = posixpath.split(file.path)
        self._paths.add(file.path)
        self._by_name[name].add(file.path)
        self._by_folder[folder].add(file.path)
        self._by_folder_name[posixpath.basename(folder)].add(folder)
        if file.package:
            self._by_package[file.package].add(file.path)

    def remove(self, file: ParsedFile) -> None:
        """Know a file no more."""
        self._discard()
        if is_manifest(file.path):
            self._packages.remove(file)
            return
        folder, name = posixpath.split(file.path)
        self._paths.discard(file.path)
        self._by_name[name].discard(file.path)
        self._by_folder[folder].discard(file.path)
        if not self._by_folder[folder]:
            del self._by_folder[folder]
            self._by_folder_name[posixpath.basename(folder)].discard(folder)
        if file.package:
            self._by_package[file.package].discard(file.path)

    def _discard(self) -> None:
        self._found.clear()
        self._siblings.clear()

    def siblings(self, file: ParsedFile) -> Sequence[str]:
        """Files whose definitions a file sees without an import: those of its package, where the language has that."""
        if file.language in _FOLDER_IS_PACKAGE:
            name = (file.language, posixpath.dirname(file.path))
        elif file.language == "csharp" and file.package:
            name = (file.language, file.package)
        else:
            return ()
        known = self._siblings.get(name)
        if known is None:
            if file.language == "csharp":
                known = [path for name in _outward(file.package) for path in sorted(self._by_package.get(name, ()))]
                known = known[:_PATHS_MAX]
            else:
                known = sorted(p for p in self._by_folder[name[1]] if p.endswith(_FOLDER_IS_PACKAGE[file.language]))
            self._siblings[name] = known
        return known

    def files_of(self, file: ParsedFile, one: Import) -> Sequence[str]:
        """The files that an import means; none where they are not in the repository."""
        name = (file.path, one.module, one.name)
        known = self._found.get(name)
        if known is None:
            known = self._found[name] = self._files_of(file, one)
        return known

    def _files_of(self, file: ParsedFile, one: Import) -> Sequence[str]:
        module = one.module
        if file.language == "python":
            return self._python(file.path, module, one.name)
        if file.language in SCRIPT_LANGUAGES:
            return self._script(file.path, module)
        if file.language == "go":
            return self._go(module)
        if file.language == "java":
            return self._java(module, one.name)
        if file.language == "rust":
            return self._rust(file.path, module, one.name)
        if file.language in ("c", "cpp"):
            return self._beside_or_suffix(file.path, module.strip("<>"), ("",))
        if file.language == "csharp":
            found = sorted(self._by_package.get(module, ()))[:_PATHS_MAX]
            named = [path for path in found if posixpath.basename(path) == f"{one.name}.cs"]
            return named or found
        if file.language == "ruby":
            return self._beside_or_suffix(file.path, module, (".rb", ""))
        return ()

    def _existing(self, candidates: Sequence[str]) -> Sequence[str]:
        return next(([path] for path in candidates if path in self._paths), [])

    def _suffix(self, path: str, near: str) -> Sequence[str]:
        """The file whose path ends so; of several that with the longest common beginning with `near`."""
        found = [p for p in self._by_name.get(posixpath.basename(path), ()) if p == path or p.endswith("/" + path)]
        if not found:
            return []
        return [min(found, key=lambda p: (-len(posixpath.commonprefix([p, near])), len(p), p))]

    def _beside_or_suffix(self, path: str, name: str, extensions: Sequence[str]) -> Sequence[str]:
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
        for extension in extensions:
            if beside + extension in self._paths:
                return [beside + extension]
        bare = posixpath.normpath(name).lstrip("./")
        return next((found for extension in extensions if (found := self._suffix(bare + extension, path))), [])

    def _python(self, path: str, module: str, name: str) -> Sequence[str]:
        dots = len(module) - len(module.lstrip("."))
        inner = module[dots:].replace(".", "/")
        if dots:
            folder = posixpath.dirname(path)
            for _ in range(dots - 1):
                folder = posixpath.dirname(folder)
            base = posixpath.join(folder, inner) if inner else folder
            submodule = [f"{base}/{name}.py", f"{base}/{name}/__init__.py"] if name not in ("", "*") else []
            own = [f"{base}.py", f"{base}.pyi"] if inner else []
            return self._existing([*submodule, *own, f"{base}/__init__.py".lstrip("/")])
        endings = [f"{inner}.py", f"{inner}/__init__.py", f"{inner}.pyi"]
        if name not in ("", "*"):
            endings = [f"{inner}/{name}.py", f"{inner}/{name}/__init__.py", *endings]
        return next((found for ending in endings if (found := self._suffix(ending, path))), [])

    def _script(self, path: str, module: str) -> Sequence[str]:
        if module.startswith("."):
            return self._script_file(posixpath.join(posixpath.dirname(path), module))
        if module.startswith("node:") or module.split("/", maxsplit=1)[0] in _NODE:
            return []
        for base in self._packages.script_paths(path, module):
            if found := self._script_file(base):
                return found
        bare = module.lstrip("@~/")
        return next((f for end in (*_SCRIPTS, *_INDEXES) if (f := self._suffix(bare + end, path))), [])

    def _script_file(self, path: str) -> Sequence[str]:
        base = posixpath.normpath(path)
        ending = next((one for one in _COMPILED if base.endswith(one)), "")
        stem = base.removesuffix(ending)
        return self._existing([base, *(stem + e for e in _SCRIPTS), *(base + i for i in _INDEXES)])

    def _go(self, module: str) -> Sequence[str]:
        parts = module.split("/")
        for start in range(len(parts)):
            tail = "/".join(parts[start:])
            folders = [f for f in self._by_folder_name.get(parts[-1], ()) if f == tail or f.endswith("/" + tail)]
            if folders:
                return sorted(p for p in self._by_folder[min(folders)] if p.endswith(".go"))[:_PATHS_MAX]
        # The module itself: its package is at the root.
        if not any(path.endswith(".go") for path in self._by_folder.get("", ())) or len(parts) < 3:
            return []
        return sorted(p for p in self._by_folder[""] if p.endswith(".go") and "." in parts[0])[:_PATHS_MAX]

    def _java(self, module: str, name: str) -> Sequence[str]:
        if name == "*":
            return sorted(self._by_package.get(module, ()))[:_PATHS_MAX]
        path = module.replace(".", "/")
        return self._suffix(f"{path}/{name}.java", "") or self._suffix(f"{path}.java", "")

    def _rust(self, path: str, module: str, name: str) -> Sequence[str]:
        parts = [part for part in module.split("::") if part]
        folder = posixpath.dirname(path)
        is_root = posixpath.basename(path) in ("mod.rs", "lib.rs", "main.rs")
        own = folder if is_root else posixpath.splitext(path)[0]
        if parts and parts[0] in ("self", "super"):
            base = own
            while parts and parts[0] in ("self", "super"):
                if parts.pop(0) == "super":
                    base = posixpath.dirname(base)
            return self._rust_in(base, parts, name)
        source = "src" if path.startswith("src/") else folder
        if "/src/" in path:
            source = path.split("/src/", maxsplit=1)[0] + "/src"
        if parts and parts[0] == "crate":
            return self._rust_in(source, parts[1:], name)
        # Another crate of the workspace, or a module that stands beside.
        root = self._packages.crate(parts[0], path) if parts else ""
        if root:
            return self._rust_in(posixpath.dirname(root), parts[1:], name) or self._existing([root])
        crate = parts[0].replace("_", "-") if parts else ""
        for outer in (f"{crate}/src", f"{parts[0]}/src") if parts else ():
            roots = [f for f in self._by_folder if f == outer or f.endswith("/" + outer)]
            if roots:
                return self._rust_in(min(roots, key=len), parts[1:], name)
        return self._rust_in(own, parts, name, is_beside=True) if parts else []

    def _rust_in(self, base: str, parts: Sequence[str], name: str, *, is_beside: bool = False) -> Sequence[str]:
        """The file of a path below a folder; with `is_beside` none for the folder itself."""
        for inner in ([*parts, name] if name not in ("", "*") else parts), parts, parts[:-1]:
            if is_beside and not inner:
                continue  # a crate from outside, not a module
            joined = posixpath.join(base, *inner)
            roots = [] if inner else [f"{joined}/lib.rs", f"{joined}/mod.rs", f"{joined}/main.rs"]
            found = self._existing([f"{joined}.rs", f"{joined}/mod.rs", *roots])
            if found:
                return found
        return []


def _outward(namespace: str) -> Iterator[str]:
    """A namespace and those around it, the inner ones first."""
    while namespace:
        yield namespace
        namespace = namespace.rpartition(".")[0]
