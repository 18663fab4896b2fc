import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from services.common.embedding.encoder import EncoderSettings, OnnxSentenceEncoder, batches_of_like_length
from services.common.embedding.errors import ModelUnavailableError

VOCABULARY = {"[UNK]": 0, "[PAD]": 1, "red": 2, "green": 3, "blue": 4}
TABLE = np.asarray([[1, 1], [50, 50], [1, 0], [0, 1], [3, 4]], dtype=np.float32)


def write_model(
    folder: Path, *, inputs: tuple[str, ...], output: str, file: str = "model.onnx", pooled: bool = False
) -> Path:
    """Write a 'model' whose token embeddings are the rows of TABLE."""
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["tokens"])]
    if pooled:
        nodes.append(helper.make_node("ReduceMax", ["tokens", "axis"], [output], keepdims=0))
    else:
        nodes.append(helper.make_node("Identity", ["tokens"], [output]))
    shape: list[str | int | None] = ["batch", 2] if pooled else ["batch", "sequence", 2]
    model_graph = helper.make_graph(
        nodes,
        "table",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"]) for name in inputs],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)],
        [
            numpy_helper.from_array(TABLE, "table"),
            numpy_helper.from_array(np.asarray([1], dtype=np.int64), "axis"),
        ],
    )
    model = helper.make_model(model_graph, opset_imports=[helper.make_opsetid("", 20)])
    model.ir_version = 10
    onnx.save(model, path)
    tokenizer = Tokenizer(WordLevel(VOCABULARY, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.enable_padding(length=64, pad_id=1)
    tokenizer.enable_truncation(2)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def test_the_published_vector_is_reproduced(minilm: OnnxSentenceEncoder) -> None:
    vector = minilm.encode(["This is an example sentence"])[0]
    np.testing.assert_allclose(vector[:3], [0.0677, 0.0635, 0.0487], atol=5e-5)
    assert vector.dtype == np.float32
    assert minilm.dimension == vector.shape[0] == 384
    assert minilm.model_name == "all-MiniLM-L6-v2"
    assert minilm.fingerprint.startswith("53aa51172d142c89")


def test_a_batch_gives_the_vectors_of_its_texts_in_their_order(minilm: OnnxSentenceEncoder) -> None:
    texts = ["word " * (1 + 7 * index % 40) + f"number {index}" for index in range(40)]  # two batches, mixed lengths
    together = minilm.encode(texts)
    alone = np.concatenate([minilm.encode([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-5)


def test_nothing_gives_nothing_and_an_empty_text_has_a_vector(minilm: OnnxSentenceEncoder) -> None:
    assert minilm.encode([]).shape == (0, 384)
    np.testing.assert_allclose(np.linalg.norm(minilm.encode(["", " \n"]), axis=1), 1, atol=1e-5)


def test_related_texts_are_nearer_than_unrelated_ones(minilm: OnnxSentenceEncoder) -> None:
    cat, kitten, tax = minilm.encode(["My cat sleeps.", "A kitten takes a nap.", "Taxes are due in May."])
    assert cat @ kitten > 0.5 > cat @ tax


def test_text_past_the_limit_does_not_count(minilm: OnnxSentenceEncoder) -> None:
    vectors = minilm.encode(["cat " * 254, "cat " * 254 + "tax law", "cat " * 100 + "tax law"])
    np.testing.assert_allclose(vectors[0], vectors[1], atol=1e-6)
    assert float(vectors[0] @ vectors[2]) < 0.999


def test_a_lower_limit_can_be_set(minilm_folder: Path) -> None:
    short = OnnxSentenceEncoder(minilm_folder, EncoderSettings(max_tokens=5, intra_op_threads=1))
    one, two = short.encode(["the red cat sat", "the red cat slept"])
    np.testing.assert_allclose(one, two, atol=1e-6)


@pytest.mark.parametrize("output", ["token_embeddings", "last_hidden_state"])
@pytest.mark.parametrize("extra", [(), ("token_type_ids",)])
def test_a_model_without_pooling_is_pooled_here(tmp_path: Path, output: str, extra: tuple[str, ...]) -> None:
    write_model(tmp_path, inputs=("input_ids", "attention_mask", *extra), output=output)
    encoder = OnnxSentenceEncoder(tmp_path)
    assert encoder.dimension == 2
    assert encoder.model_name == tmp_path.name
    vectors = encoder.encode(["red green", "blue", "red red red green"])
    expected = np.asarray([[1, 1], [3, 4], [3, 1]]) / [[2**0.5], [5], [10**0.5]]
    np.testing.assert_allclose(vectors, expected, atol=1e-6)


def test_a_model_that_pools_is_believed_and_scaled(tmp_path: Path) -> None:
    inputs = ("input_ids", "attention_mask")
    write_model(tmp_path, inputs=inputs, output="sentence_embedding", pooled=True)
    np.testing.assert_allclose(OnnxSentenceEncoder(tmp_path).encode(["blue red"]), [[0.6, 0.8]], atol=1e-6)


def test_pooling_by_the_first_token_is_read_from_the_folder(tmp_path: Path) -> None:
    write_model(
        tmp_path,
        inputs=("input_ids", "attention_mask"),
        output="last_hidden_state",
        file="onnx/model.onnx",
    )
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    np.testing.assert_allclose(OnnxSentenceEncoder(tmp_path).encode(["red blue"]), [[1, 0]], atol=1e-6)


def test_the_folders_own_limit_is_kept(tmp_path: Path) -> None:
    write_model(tmp_path, inputs=("input_ids", "attention_mask"), output="last_hidden_state")
    (tmp_path / "sentence_bert_config.json").write_text('{"max_seq_length": 3}')
    encoder = OnnxSentenceEncoder(tmp_path)
    assert encoder.max_tokens == 3
    np.testing.assert_allclose(encoder.encode(["red red red green green"]), [[1, 0]], atol=1e-6)


def test_the_fingerprint_follows_the_bytes_of_the_model(tmp_path: Path) -> None:
    inputs = ("input_ids", "attention_mask")
    one = OnnxSentenceEncoder(write_model(tmp_path / "one", inputs=inputs, output="last_hidden_state"))
    same = OnnxSentenceEncoder(write_model(tmp_path / "same", inputs=inputs, output="last_hidden_state"))
    other = OnnxSentenceEncoder(write_model(tmp_path / "other", inputs=inputs, output="token_embeddings"))
    assert one.fingerprint == same.fingerprint != other.fingerprint


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailableError, match=r"needs model\.onnx"):
        OnnxSentenceEncoder(tmp_path)


@pytest.mark.parametrize("broken", ["model.onnx", "tokenizer.json"])
def test_a_damaged_file_is_refused_by_name(tmp_path: Path, broken: str) -> None:
    write_model(tmp_path, inputs=("input_ids", "attention_mask"), output="last_hidden_state")
    (tmp_path / broken).write_bytes(b"damaged")
    with pytest.raises(ModelUnavailableError, match=broken):
        OnnxSentenceEncoder(tmp_path)


def test_a_model_of_another_kind_is_refused(tmp_path: Path) -> None:
    one = write_model(tmp_path / "one", inputs=("input_ids", "pixels"), output="last_hidden_state")
    two = write_model(tmp_path / "two", inputs=("input_ids", "attention_mask"), output="logits")
    with pytest.raises(ModelUnavailableError, match="inputs of a sentence encoder"):
        OnnxSentenceEncoder(one)
    with pytest.raises(ModelUnavailableError, match="none of which"):
        OnnxSentenceEncoder(two)


def test_texts_of_unlike_length_do_not_share_a_run() -> None:
    batches = batches_of_like_length([200, 12, 190, 11, 14], texts_max=32)
    assert batches == [[3, 1, 4], [2, 0]]


def test_a_run_has_no_more_texts_than_allowed() -> None:
    assert batches_of_like_length([5] * 5, texts_max=2) == [[0, 1], [2, 3], [4]]
    assert batches_of_like_length([], texts_max=2) == []
