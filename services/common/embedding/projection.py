"""PCA of a model's token vectors: their mean is subtracted and they are projected onto the main axes.

The mean says nothing about a word and would make all of them alike; most of the variance lies in a third of the axes.
Both are fitted once for each model and stored in a file beside this module.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from services.common.embedding.errors import ModelUnavailableError
from services.common.embedding.tokens import compact

PROJECTIONS_FOLDER: Final = Path(__file__).parent / "projections"
"""Projections of packaged models: `<model name>.json`."""
PROJECTION_FILE: Final = "mneme-token-projection.json"
"""Name of the projection in a model folder of one's own."""

_LENGTH_MIN: Final = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class TokenProjection:
    """The PCA of one model's token vectors."""

    model: str
    """Name of the model that it was fitted for."""
    mean: npt.NDArray[np.float32]
    """What is subtracted: `[hidden]`."""
    basis: npt.NDArray[np.float32]
    """Orthonormal axes: `[hidden, dimension]`."""
    fitted_on: str = ""
    """Which texts it was fitted on."""
    note: str = ""
    """Free text."""

    @property
    def dimension(self) -> int:
        """Components of a compact vector."""
        return int(self.basis.shape[1])

    @property
    def fingerprint(self) -> str:
        """Identity of mean and basis, in the precision of the file."""
        content = self.mean.astype("<f2").tobytes() + self.basis.astype("<f2").tobytes()
        return hashlib.sha256(content).hexdigest()[:12]

    def apply(self, vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.int8]:
        """Returns the compact form of token vectors: int8 `[tokens, dimension]`.

        Args:
            vectors: As the model gives them: `[tokens, hidden]`. Their lengths do not matter.
        """
        projected = (vectors - self.mean) @ self.basis
        lengths = np.linalg.norm(projected, axis=1, keepdims=True)
        return compact(projected / np.maximum(lengths, _LENGTH_MIN))

    def save(self, file: Path) -> None:
        """Writes a file that `load` reads."""
        content = {
            "model": self.model,
            "fingerprint": self.fingerprint,
            "dimension": self.dimension,
            "mean": _to_text(self.mean),
            "basis": _to_text(self.basis),
            "fitted_on": self.fitted_on,
            "note": self.note,
        }
        file.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, file: Path) -> TokenProjection:
        """Returns the projection of a file.

        Raises:
            ModelUnavailableError: It is damaged, or no such file.
        """
        try:
            content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
            mean, basis = _from_text(content["mean"]), _from_text(content["basis"])
            found = cls(
                model=str(content["model"]),
                mean=mean,
                basis=basis.reshape(mean.size, int(content["dimension"])),
                fitted_on=str(content.get("fitted_on", "")),
                note=str(content.get("note", "")),
            )
            is_whole = bool(np.isfinite(mean).all() and np.isfinite(basis).all())
            if not is_whole or found.fingerprint != content["fingerprint"]:
                raise ModelUnavailableError(f"{file} is damaged: its numbers are not those of its fingerprint")
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ModelUnavailableError(f"{file} is no projection of token vectors") from error
        return found


def find_projection(model_name: str, *, model_folder: Path, hidden: int) -> TokenProjection | None:
    """Returns the projection of a model; None where there is none.

    Args:
        model_name: Name of the model; packaged projections are found by it.
        model_folder: Where a model of one's own has a projection of its own, in a file `PROJECTION_FILE`.
        hidden: Components of the model's token vectors.

    Raises:
        ModelUnavailableError: The file is damaged, or made for vectors of another length.
    """
    own = model_folder / PROJECTION_FILE
    # A name may come from a folder's or a user's manifest: it names a file here, and never a path.
    packaged = PROJECTIONS_FOLDER / f"{Path(model_name).name}.json"
    file = next((file for file in (own, packaged) if file.is_file()), None)
    if file is None:
        return None
    found = TokenProjection.load(file)
    if found.mean.size == hidden:
        return found
    if file is own:
        raise ModelUnavailableError(f"{file} is for vectors of {found.mean.size} numbers; the model gives {hidden}")
    return None  # another model of the same name


def fit_projection(vectors: npt.NDArray[np.float32], dimension: int, *, model: str = "") -> TokenProjection:
    """Returns the projection that preserves cosines between token vectors best: a principal component analysis.

    The mean of all tokens is taken away and each vector scaled to length 1, since cosines are all that counts; the
    axes are the eigenvectors of their second moments, largest first, each with its largest component positive.

    Args:
        vectors: Of many tokens of many texts, as the model gives them: `[tokens, hidden]`.
        dimension: Number of axes.
        model: Name of the model.

    Raises:
        ValueError: There are fewer tokens, or fewer components, than axes.
    """
    if not 1 <= dimension <= min(vectors.shape):
        raise ValueError(f"{dimension} axes cannot be found in {vectors.shape[0]} vectors of {vectors.shape[1]}")
    wide = vectors.astype(np.float64)
    # In the precision of files from here on, so that a projection that was saved is the one that was fitted.
    mean = wide.mean(axis=0).astype(np.float16)
    centred = wide - mean
    centred /= np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), _LENGTH_MIN)
    _, axes = np.linalg.eigh(centred.T @ centred / len(centred))
    basis = axes[:, ::-1][:, :dimension]
    largest = np.abs(basis).argmax(axis=0)
    basis = basis * np.sign(basis[largest, np.arange(dimension)])
    return TokenProjection(model=model, mean=mean.astype(np.float32), basis=basis.astype(np.float16).astype(np.float32))


def _to_text(numbers: npt.NDArray[np.float32]) -> str:
    return base64.b64encode(numbers.astype("<f2").tobytes()).decode("ascii")


def _from_text(text: str) -> npt.NDArray[np.float32]:
    return np.frombuffer(base64.b64decode(text, validate=True), dtype="<f2").astype(np.float32)
