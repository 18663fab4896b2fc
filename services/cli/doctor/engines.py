"""Checks of what runs inside the process: interpreter, packages, engines, embedding model."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from services.cli.doctor.model import Finding, Verdict
from services.cli.version import DISTRIBUTION

_PACKAGES = (DISTRIBUTION, "grpcio", "protobuf", "asyncpg", "onnxruntime", "numpy", "opentelemetry-sdk")
_PYTHON_MIN = (3, 11)
_SETUP_HINT = "run `make setup`"

# Published with the model: the first components of this sentence's vector.
_SENTENCE = "This is an example sentence"
_VECTOR_START = (0.0677, 0.0635, 0.0487)
_TOLERANCE = 0.01  # differences of processors and of quantized variants; another model differs by far more


def check_python() -> Finding:
    """The interpreter."""
    version = ".".join(str(n) for n in sys.version_info[:3])
    if sys.version_info[:2] < _PYTHON_MIN:
        return Finding("Python", Verdict.FAILED, version, "Mneme needs 3.11 or newer")
    return Finding("Python", Verdict.OK, f"{version}, {sys.executable}")


def check_packages() -> Iterator[Finding]:
    """The required packages."""
    versions, missing = [], []
    for name in _PACKAGES:
        try:
            versions.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            missing.append(name)
    yield Finding("packages", Verdict.OK, ", ".join(versions))
    if missing:
        yield Finding("packages", Verdict.FAILED, f"missing: {', '.join(missing)}", _SETUP_HINT)


def check_postgres() -> Finding:
    """The embedded PostgreSQL: installed, and able to run."""
    from services.common.postgres.failure import EmbeddedPostgresError
    from services.common.postgres.wheel import programs_folder

    try:
        program = programs_folder() / "postgres"
        output = subprocess.run(  # noqa: S603 - our own program, no shell
            [str(program), "--version"], capture_output=True, text=True, timeout=20, check=True
        ).stdout.strip()
    except EmbeddedPostgresError as error:
        return Finding("embedded PostgreSQL", Verdict.FAILED, str(error), _SETUP_HINT)
    except (OSError, subprocess.SubprocessError) as error:
        return Finding("embedded PostgreSQL", Verdict.FAILED, f"does not run here: {error}")
    return Finding("embedded PostgreSQL", Verdict.OK, output)


def check_pgvector() -> Finding:
    """Its vector extension."""
    from services.common.postgres.failure import EmbeddedPostgresError
    from services.common.postgres.wheel import programs_folder

    try:
        control = programs_folder().parent / "share" / "postgresql" / "extension" / "vector.control"
        version = re.search(r"default_version\s*=\s*'([^']+)'", control.read_text("utf-8"))
    except (EmbeddedPostgresError, OSError) as error:
        return Finding("pgvector", Verdict.FAILED, f"is not there: {error}", _SETUP_HINT)
    return Finding("pgvector", Verdict.OK, version[1] if version else "version unknown")


def check_qdrant() -> Finding:
    """Qdrant's engine as a library."""
    try:
        import qdrant_edge  # noqa: F401 - whether it loads is the question
    except ImportError as error:
        return Finding("Qdrant Edge", Verdict.FAILED, f"cannot be loaded: {error}", _SETUP_HINT)
    return Finding("Qdrant Edge", Verdict.OK, importlib.metadata.version("qdrant-edge-py"))


def check_embedding(data_dir: Path) -> Finding:
    """The embedding model: its digest, that it runs, and that it returns its published vector."""
    from services.common.embedding.errors import ModelUnavailableError

    try:
        # `mneme up` makes the data folder; without one the model is built in a temporary folder.
        with tempfile.TemporaryDirectory(prefix="mneme-doctor-") as scratch:
            return _embed(data_dir if data_dir.is_dir() else Path(scratch))
    except (ModelUnavailableError, OSError, ImportError) as error:
        return Finding("embedding model", Verdict.FAILED, str(error), _SETUP_HINT)


def _embed(data_dir: Path) -> Finding:
    from services.common.embedding.factory import EmbeddingSettings, load_encoder
    from services.common.hosting import HostSettings

    folder = HostSettings().embedding_model_dir
    encoder = load_encoder(EmbeddingSettings(data_dir=data_dir, model_dir=folder))
    vector = encoder.encode([_SENTENCE])[0]
    start = [float(value) for value in vector[: len(_VECTOR_START)]]
    detail = f"{encoder.model_name}, {encoder.dimension} dimensions"
    if folder is not None:  # a model of the user's: its vector is not known
        return Finding("embedding model", Verdict.OK, f"{detail}, from {folder}")
    if any(abs(a - b) > _TOLERANCE for a, b in zip(start, _VECTOR_START, strict=True)):
        shown = ", ".join(f"{value:.4f}" for value in start)
        return Finding("embedding model", Verdict.FAILED, f"{detail}; gives a wrong vector: {shown}")
    return Finding("embedding model", Verdict.OK, f"{detail}, gives the published vector")
