"""`mneme encryption`."""

from __future__ import annotations

import os
from pathlib import Path

from typer.testing import CliRunner, Result

from services.cli.main import app
from services.common.encryption.key_file import read_key_file


def run(*arguments: str, **variables: str) -> Result:
    """Runs the command without the variables of whoever runs the tests."""
    own = dict.fromkeys(name for name in os.environ if name.startswith("MNEME_"))
    environment: dict[str, str | None] = {**own, "COLUMNS": "200", **variables}
    return CliRunner().invoke(app, ["encryption", *arguments], env=environment)


def test_spec_7_3_a_key_file_is_made_and_gets_further_versions(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    first = run("new-key", "--file", str(file))
    second = run("new-key", MNEME_ENCRYPTION_KEY_FILE=str(file))
    assert (first.exit_code, second.exit_code) == (0, 0)
    assert second.stdout.strip().endswith(": v2")
    keys = read_key_file(file)
    assert list(keys) == ["v1", "v2"]
    assert not any(key.hex() in first.stdout + second.stdout for key in keys.values())


def test_a_file_of_another_form_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text("notes\n", "ascii")
    assert run("new-key", "--file", str(file)).exit_code == 1
    assert file.read_text("ascii") == "notes\n"


def test_a_folder_without_data_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    run("new-key", "--file", str(file))
    for command in ("rotate", "encrypt"):
        refused = run(command, "--file", str(file), "--data-dir", str(tmp_path / "none"))
        assert refused.exit_code == 1
        assert "is no data folder" in refused.stderr


def test_spec_7_3_without_a_file_and_vault_the_commands_say_what_is_missing(tmp_path: Path) -> None:
    for command in ("rotate", "encrypt"):
        refused = run(command, "--data-dir", str(tmp_path))
        assert refused.exit_code == 1
        assert "set MNEME_ENCRYPTION_DRIVER=vault" in refused.stderr


def test_spec_7_3_the_commands_say_what_to_do_where_vault_cannot_be_used(tmp_path: Path) -> None:
    for command in ("rotate", "encrypt"):
        wrong = run(command, MNEME_ENCRYPTION_DRIVER="vault", MNEME_VAULT_ADDRESS="http://vault.example:8200")
        assert wrong.exit_code == 1
        assert "MNEME_VAULT_ADDRESS must be https://" in wrong.stderr
        assert "MNEME_VAULT_TOKEN_FILE is not set" in wrong.stderr
        token = tmp_path / "token"
        variables = {"MNEME_VAULT_ADDRESS": "http://127.0.0.1:1", "MNEME_VAULT_TOKEN_FILE": str(token)}
        refused = run(command, MNEME_ENCRYPTION_DRIVER="vault", **variables)
        assert refused.exit_code == 1
        assert f"there is no token for Vault. {token}" in refused.stderr.replace("\n", " ")
        assert "Traceback" not in refused.stderr
