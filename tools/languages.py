"""Generates stubs in Go, Java, TypeScript and C#, compiles and tests the clients that this machine has a toolchain for.

Usage: python tools/languages.py [--require] [go] [java] [typescript] [csharp]

Without `--require` a language whose toolchain is missing is reported and skipped. Stubs go to the client's folder,
where git ignores them. `proto/buf.gen.yaml` says how they are generated; Java: `clients/java/pom.xml`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Final

import yaml

REPOSITORY: Final = Path(__file__).resolve().parent.parent
CLIENTS: Final = REPOSITORY / "clients"
PROTOS: Final = REPOSITORY / "proto"
PROTOC_VERSION: Final = "4.35.1"  # the version of the protobuf runtime in clients/java/pom.xml
PROTOC_PLATFORM: Final = f"{platform.system().lower()}-{platform.machine()}"
GO_PLUGINS: Final = {
    "protoc-gen-go": "google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12",
    "protoc-gen-go-grpc": "google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2",
}


@dataclass(frozen=True)
class Language:
    """How one language's client is built."""

    programs: Sequence[str]  # the toolchain, as commands on the PATH
    build: Callable[[Path], None]  # gets the folder of installed tools


def tools_folder() -> Path:
    """Where installed tools are cached, outside the repository."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return Path(os.environ.get("MNEME_TOOLS_DIR", cache / "mneme" / "tools"))


def run(*command: str | Path, folder: Path = REPOSITORY, **environment: str) -> None:
    """Runs a command and stops with its exit code where it fails."""
    subprocess.run([str(part) for part in command], cwd=folder, env={**os.environ, **environment}, check=True)


def generate(language: str, stubs: Path, *plugin_folders: Path) -> None:
    """Runs the plugins of `proto/buf.gen.yaml` that write into the language's folder, after removing `stubs`."""
    template = yaml.safe_load((PROTOS / "buf.gen.yaml").read_text("utf-8"))
    template["plugins"] = [p for p in template["plugins"] if p["out"].startswith(f"../clients/{language}")]
    shutil.rmtree(stubs, ignore_errors=True)
    run("tools/install_tools.sh", "buf")
    path = os.pathsep.join([*map(str, plugin_folders), str(tools_folder() / "bin"), os.environ["PATH"]])
    run("buf", "generate", "--template", json.dumps(template), folder=PROTOS, PATH=path)


def build_go(tools: Path) -> None:
    """Generates, compiles and tests the Go client."""
    for name, package in GO_PLUGINS.items():
        folder = tools / f"{name}-{package.rpartition('@')[2]}"
        if not (folder / name).exists():
            run("go", "install", package, GOBIN=str(folder), CGO_ENABLED="0")
    plugins = [tools / f"{name}-{package.rpartition('@')[2]}" for name, package in GO_PLUGINS.items()]
    generate("go", CLIENTS / "go" / "mneme", *plugins)
    run("go", "build", "-o", "bin/", "./...", folder=CLIENTS / "go", CGO_ENABLED="0")
    run("go", "vet", "./...", folder=CLIENTS / "go", CGO_ENABLED="0")
    run("go", "test", ".", folder=CLIENTS / "go", CGO_ENABLED="0")


def build_java(_tools: Path) -> None:
    """Generates, compiles and tests the Java client."""
    run("mvn", "--quiet", "--batch-mode", "package", folder=CLIENTS / "java")


def build_typescript(_tools: Path) -> None:
    """Generates, compiles and tests the TypeScript client."""
    folder = CLIENTS / "typescript"
    run("npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error", folder=folder)
    generate("typescript", folder / "gen", folder / "node_modules" / ".bin")
    shutil.rmtree(folder / "dist", ignore_errors=True)
    run("npm", "run", "--silent", "build", folder=folder)
    run("npm", "test", "--silent", folder=folder)


def build_csharp(tools: Path) -> None:
    """Generates the C# messages, and compiles them where there is a .NET SDK."""
    protoc = tools / f"protoc-{PROTOC_VERSION}-{PROTOC_PLATFORM}.exe"
    if not protoc.exists():
        artifact = f"com.google.protobuf:protoc:{PROTOC_VERSION}:exe:{PROTOC_PLATFORM}"
        run("mvn", "--quiet", "--batch-mode", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={tools}")
        protoc.chmod(0o755)
    folder = CLIENTS / "csharp" / "gen"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    roots = [PROTOS, PROTOS / "third_party", resources.files("grpc_tools") / "_proto"]
    protos = sorted(proto for proto in (PROTOS / "mneme").rglob("*.proto") if "internal" not in proto.parts)
    includes = [f"--proto_path={root}" for root in roots]
    run(protoc, *includes, f"--csharp_out={folder}", "--csharp_opt=base_namespace=Mneme", *protos)
    if shutil.which("dotnet") is None:
        print("csharp: generated; not compiled, since dotnet is not on the PATH")


LANGUAGES: Final = {
    "go": Language(("go", "npm"), build_go),
    "java": Language(("mvn", "javac"), build_java),
    "typescript": Language(("node", "npm"), build_typescript),
    "csharp": Language(("mvn",), build_csharp),
}


def main() -> None:
    """Builds the named languages, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("languages", nargs="*", metavar="language", choices=[*LANGUAGES, []], help=", ".join(LANGUAGES))
    parser.add_argument("--require", action="store_true", help="fail where a toolchain is missing")
    arguments = parser.parse_args()
    for name in arguments.languages or LANGUAGES:
        language = LANGUAGES[name]
        if absent := [program for program in language.programs if shutil.which(program) is None]:
            message = f"{name}: skipped, not on the PATH: {', '.join(absent)}"
            if arguments.require:
                sys.exit(message)
            print(message)
            continue
        try:
            language.build(tools_folder())
        except subprocess.CalledProcessError as error:
            sys.exit(f"{name}: failed: {' '.join(error.cmd)}")
        print(f"{name}: done")


if __name__ == "__main__":
    main()
