"""What every proto file must say, so that it generates cleanly in each language."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

PROTOS = Path(__file__).resolve().parents[2] / "proto"
FILES = sorted((PROTOS / "mneme").rglob("*.proto"))


def package_parts(path: Path) -> list[str]:
    """The folders of a file below `proto/mneme`, such as ["episodic", "internal", "v1"]."""
    return list(path.relative_to(PROTOS / "mneme").parent.parts)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PROTOS)))
def test_a_proto_names_its_package_in_every_language(path: Path) -> None:
    parts = package_parts(path)
    folder, dotted = "/".join(parts), ".".join(parts)
    # Go forbids other packages to import what lies below a folder named "internal".
    go_folder = "common/internalv1" if folder == "common/internal/v1" else folder
    text = path.read_text(encoding="utf-8")
    for line in (
        f"package mneme.{dotted};",
        f'option csharp_namespace = "Mneme.{".".join(part.capitalize() for part in parts)}";',
        f'option go_package = "github.com/mneme-ai/mneme/clients/go/mneme/{go_folder};{"".join(parts)}";',
        "option java_multiple_files = true;",
        f'option java_package = "ai.mneme.{dotted}";',
    ):
        assert line in text.splitlines(), line


def test_the_copy_of_google_rpc_status_is_the_published_one() -> None:
    published = resources.files("google.rpc") / "status.proto"
    copied = PROTOS / "third_party" / "google" / "rpc" / "status.proto"
    assert copied.read_text(encoding="utf-8") == published.read_text(encoding="utf-8")
