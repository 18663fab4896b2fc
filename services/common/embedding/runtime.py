"""Opens model folders: an ONNX graph that runs on the processor, and its tokenizer."""

from pathlib import Path
from typing import Final

import onnxruntime as ort
from tokenizers import Tokenizer

from services.common.embedding.errors import ModelUnavailableError

_MODEL_FILES: Final = ("model.onnx", "onnx/model.onnx")
_TOKENIZER_FILE: Final = "tokenizer.json"


def find_model_files(folder: Path) -> tuple[Path, Path]:
    """Return the graph and the tokenizer of a model folder.

    Raises:
        ModelUnavailableError: One of them is missing.
    """
    model_file = next((folder / name for name in _MODEL_FILES if (folder / name).is_file()), None)
    tokenizer_file = folder / _TOKENIZER_FILE
    if model_file is None or not tokenizer_file.is_file():
        raise ModelUnavailableError(f"{folder} needs model.onnx (or onnx/model.onnx) and tokenizer.json")
    return model_file, tokenizer_file


def load_tokenizer(path: Path) -> Tokenizer:
    """Return a tokenizer that neither pads nor cuts.

    Raises:
        ModelUnavailableError: The file is none.
    """
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare Exception for every unreadable file
        raise ModelUnavailableError(f"{path} is not a tokenizer file") from error
    # The file's own padding to a fixed length would make a query of ten tokens cost as much as 128.
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def pad_id(tokenizer: Tokenizer) -> int:
    """Return the id that fills rows up; a mask hides it from the model."""
    for token in ("[PAD]", "<pad>"):
        identity = tokenizer.token_to_id(token)
        if identity is not None:
            return int(identity)
    return 0


def load_session(file: Path, *, threads: int, allow_spinning: bool = False) -> ort.InferenceSession:
    """Return a graph that is ready to run.

    Args:
        file: The graph.
        threads: Threads inside one run.
        allow_spinning: Whether idle threads burn their core for a while to start sooner.

    Raises:
        ModelUnavailableError: It cannot be loaded.
    """
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "1" if allow_spinning else "0")
    try:
        return ort.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has a class per failure and no public root of them
        raise ModelUnavailableError(f"{file} cannot be loaded by onnxruntime") from error
