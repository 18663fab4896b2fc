"""Neo4j Community, as its published engine with a launcher of our own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final

from tools.engines.engine import Engine
from tools.engines.neo4j.distribution import Distribution
from tools.engines.process import EngineError, exchange

_HANDSHAKE: Final = b"\x60\x60\xb0\x17" + b"\x00\x00\x04\x05" + bytes(12)
"""Bolt's magic number, and a wish for version 5.4."""

_USER: Final = "neo4j"


class Neo4jEngine(Engine):
    """A Neo4j server. With a password its clients log in as neo4j, without one nobody is asked."""

    name = "neo4j"
    packages: ClassVar[Mapping[str, str]] = {"maven": "mvn"}
    user: Final = _USER
    heap_mb: ClassVar[int] = 1024

    def __init__(self, folder: Path, *, password: str | None = None, short_lived: bool = False) -> None:
        """Prepares a server; nothing is touched before `start`.

        Args:
            folder: Its own; made where missing.
            password: What clients log in with. None: nobody logs in.
            short_lived: Uses Java's first compiler alone. A server that runs for minutes, as in tests, then takes far
                less processor time; one that runs for hours is slower.
        """
        super().__init__(folder, password=password)
        self._short_lived = short_lived

    @property
    def url(self) -> str:
        """Where clients find it; the password goes beside it."""
        return f"bolt://127.0.0.1:{self.port}"

    def is_answering(self) -> bool:
        """Whether it speaks Bolt and its databases are open."""
        is_ready = any(line == "ready" for line in self.log_file.read_text("utf-8", errors="replace").splitlines())
        return is_ready and len(exchange(self.port, _HANDSHAKE)) == 4

    def _command(self) -> Sequence[str]:
        distribution = Distribution()
        java = distribution.java()
        if java is None or not distribution.is_installed:
            raise EngineError("Neo4j is not installed; `make engines-install` installs it")
        return [
            java.program,
            "-Xms256m",
            f"-Xmx{self.heap_mb}m",
            *(["-XX:TieredStopAtLevel=1"] if self._short_lived else []),
            *java.options,
            "-cp",
            f"{distribution.compiled_launcher(java)}:{distribution.libraries}/*",
            distribution.launcher_class,
            str(self.folder / "home"),
            str(self.port),
        ]

    def _environment(self) -> dict[str, str]:
        # Not among the arguments, which every user of the machine can read.
        return {"NEO4J_PASSWORD": self.password} if self.password else {}
