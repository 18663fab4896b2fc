from pathlib import Path

import pytest

from services.common.embedding.encoder import OnnxSentenceEncoder
from services.common.embedding.graph import ensure_model_folder
from services.common.embedding.weights import LocatedWeights, locate_weights


@pytest.fixture(scope="session")
def weights() -> LocatedWeights:
    return locate_weights()


@pytest.fixture(scope="session")
def minilm_folder(weights: LocatedWeights, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ensure_model_folder(weights, data_dir=tmp_path_factory.mktemp("data"), max_tokens=256)


@pytest.fixture(scope="session")
def minilm(minilm_folder: Path) -> OnnxSentenceEncoder:
    return OnnxSentenceEncoder(minilm_folder)
