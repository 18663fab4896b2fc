"""`mneme audit verify`: what it says of a log, of one that was altered, and of files that are none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from services.common.audit.checkpoint import Checkpoint, CheckpointSigner
from services.common.audit.verification import commitment_of
from services.common.merkle import Frontier, leaf_hash
from tests.unit.cli.conftest import Invoke

SIGNER = CheckpointSigner(b"a secret of thirty-two bytes and more")


def changed(file: Path, old: str, new: str) -> None:
    """The file with another text in place of one, of all of it where that is empty."""
    file.write_text(file.read_text().replace(old, new) if old else new)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Four entries, of which the second is blinded; a checkpoint of the first three beside them."""
    lines, leaves = [], []
    for index in range(4):
        salt, body = bytes([index]) * 32, json.dumps({"method": f"M{index}"})
        commitment = commitment_of(salt, body)
        leaves.append(leaf_hash(commitment))
        shown = ("", "") if index == 1 else (salt.hex(), body)
        fields = {"index": index, "commitment": commitment.hex(), "salt": shown[0], "body": shown[1]}
        lines.append(json.dumps(fields))
    frontier = Frontier().extended(leaves[:3])
    note = SIGNER.sign(Checkpoint("mneme/acme", 3, frontier.root))
    document = {"checkpoint": note, "public_key": SIGNER.public_key.hex()}
    (tmp_path / "checkpoint.json").write_text(json.dumps(document))
    file = tmp_path / "log.jsonl"
    file.write_text("".join(f"{line}\n" for line in lines))
    return file


async def test_spec_6_10_a_log_is_verified_offline_and_what_was_blinded_is_said(invoke: Invoke, log: Path) -> None:
    result = await invoke("audit", "verify", log, "-c", log.with_name("checkpoint.json"))
    assert result.exit_code == 0, result.stderr
    assert "The first 3 of 4 entries are those of the checkpoints." in result.stdout
    assert "1 of them say nothing any more" in result.stdout.replace("\n", " ")


async def test_spec_6_10_an_altered_log_is_told_by_the_exit_code(invoke: Invoke, log: Path) -> None:
    changed(log, "M2", "M7")
    result = await invoke("audit", "verify", log, "-c", log.with_name("checkpoint.json"))
    assert result.exit_code == 1
    assert "entry 2 was altered" in result.stderr.replace("\n", " ")


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"log": "{broken\n"}, "log.jsonl, line 1, is not an entry written by `mneme audit export`"),
        ({"log": "[]\n"}, "log.jsonl, line 1, is not an entry written by `mneme audit export`"),
        ({"checkpoint": "[]"}, "checkpoint.json is not a file written by `mneme audit checkpoint`"),
        ({"key": "00"}, "the public key is not 32 bytes in hexadecimal"),
        ({"key": "00" * 32}, "signed with another key"),
    ],
)
async def test_spec_6_10_what_cannot_be_verified_is_named(
    invoke: Invoke, log: Path, change: dict[str, str], cause: str
) -> None:
    checkpoint = log.with_name("checkpoint.json")
    if "log" in change:
        changed(log, "", change["log"])
    if "checkpoint" in change:
        changed(checkpoint, "", change["checkpoint"])
    result = await invoke("audit", "verify", log, "-c", checkpoint, "--key", change.get("key", ""))
    assert result.exit_code == 1
    assert cause in result.stderr.replace("\n", "")


async def test_a_file_that_cannot_be_written_is_named(invoke: Invoke, tmp_path: Path) -> None:
    missing = tmp_path / "none" / "file"
    for command in (
        ("export", "-u", "ana", "-o", missing),
        ("audit", "export", missing),
        ("audit", "checkpoint", missing),
    ):
        result = await invoke(*command)
        assert result.exit_code == 1
        assert "No such file or directory" in result.stderr.replace("\n", " ")
        assert "Traceback" not in result.stderr
