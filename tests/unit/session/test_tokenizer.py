"""Token counts by the embedding model's tokenizer."""

from pathlib import Path

import pytest

from services.common.embedding.errors import ModelUnavailableError
from services.session.tokenizer import ModelTokenizer, load_tokenizer


def test_spec_1_10_tokens_are_word_pieces_without_padding_or_limit() -> None:
    tokenizer = load_tokenizer(None)
    assert tokenizer.count_tokens("") == 0
    assert tokenizer.count_tokens("This is an example sentence") == 5
    assert tokenizer.count_tokens("tokenization") == 2
    assert tokenizer.count_tokens("word " * 3_000) == 3_000


def test_a_file_that_is_no_tokenizer_is_reported(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelUnavailableError):
        load_tokenizer(tmp_path)
    with pytest.raises(ModelUnavailableError):
        ModelTokenizer(tmp_path / "missing.json")
