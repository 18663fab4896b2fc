import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from services.common.embedding.encoder import OnnxSentenceEncoder
from services.common.embedding.errors import ModelUnavailableError
from services.common.embedding.projection import PROJECTION_FILE, TokenProjection, find_projection, fit_projection
from services.common.embedding.tokens import TokenVectors, compact

Floats = npt.NDArray[np.float32]


@pytest.fixture
def cloud() -> Floats:
    """600 vectors of 12 numbers around a mean, most of their length in 4 axes."""
    random = np.random.default_rng(7)
    axes, _ = np.linalg.qr(random.standard_normal((12, 12)))
    lengths = np.array([5, 4, 3, 2, *[0.1] * 8])
    cloud: Floats = (random.standard_normal((600, 12)) * lengths @ axes.T + 3.0).astype(np.float32)
    return cloud


def cosines(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    found: npt.NDArray[np.float64] = (one / np.linalg.norm(one, axis=1, keepdims=True)) @ (
        other / np.linalg.norm(other, axis=1, keepdims=True)
    ).T
    return found


def compact_cosines(one: npt.NDArray[np.int8], other: npt.NDArray[np.int8]) -> npt.NDArray[np.float64]:
    found: npt.NDArray[np.float64] = one.astype(np.float64) @ other.astype(np.float64).T / 127.0**2
    return found


def test_a_projection_keeps_cosines_about_the_mean(cloud: Floats) -> None:
    projection = fit_projection(cloud, 4)
    centred = cloud.astype(np.float64) - cloud.astype(np.float64).mean(axis=0)
    expected = cosines(centred[:50], centred[50:100])
    small = projection.apply(cloud)
    assert small.shape == (600, 4)
    assert np.abs(compact_cosines(small[:50], small[50:100]) - expected).max() < 0.12
    # The first axes would be those of the mean if it were not taken away.
    uncentred = replace(projection, mean=np.zeros(12, dtype=np.float32)).apply(cloud)
    assert np.abs(compact_cosines(uncentred[:50], uncentred[50:100]) - expected).max() > 0.5


def test_axes_are_orthonormal_and_come_in_the_order_of_what_they_keep(cloud: Floats) -> None:
    basis = fit_projection(cloud, 6).basis.astype(np.float64)
    np.testing.assert_allclose(basis.T @ basis, np.eye(6), atol=5e-3)
    centred = cloud - cloud.mean(axis=0)
    centred /= np.linalg.norm(centred, axis=1, keepdims=True)
    kept = ((centred @ basis) ** 2).sum(axis=0)
    assert (np.diff(kept) <= 1e-2).all()
    assert kept[:4].sum() / len(cloud) > 0.98


def test_the_compact_form_has_length_1_whatever_the_length_before(cloud: Floats) -> None:
    projection = fit_projection(cloud, 4)
    small = projection.apply(cloud)
    lengths = np.linalg.norm(small.astype(np.float64), axis=1) / 127
    np.testing.assert_allclose(lengths, 1.0, atol=0.01)
    longer = projection.mean + (cloud - projection.mean) * 10
    np.testing.assert_allclose(projection.apply(longer), small, atol=1)
    assert not projection.apply(projection.mean[np.newaxis]).any()  # what is the mean itself has no direction


@pytest.mark.parametrize("dimension", [0, 13])
def test_no_more_axes_than_there_are(cloud: Floats, dimension: int) -> None:
    with pytest.raises(ValueError, match="axes"):
        fit_projection(cloud, dimension)


def test_a_file_brings_back_the_same_projection(cloud: Floats, tmp_path: Path) -> None:
    projection = replace(fit_projection(cloud, 4, model="m"), fitted_on="a cloud", note="n")
    projection.save(tmp_path / "m.json")
    loaded = TokenProjection.load(tmp_path / "m.json")
    assert (loaded.model, loaded.fitted_on, loaded.note, loaded.dimension) == ("m", "a cloud", "n", 4)
    assert loaded.fingerprint == projection.fingerprint
    np.testing.assert_array_equal(loaded.apply(cloud), projection.apply(cloud))


def test_other_numbers_are_another_identity(cloud: Floats) -> None:
    names = {fit_projection(cloud, 4).fingerprint, fit_projection(cloud, 5).fingerprint}
    names.add(fit_projection(cloud[:300], 4).fingerprint)
    assert len(names) == 3


@pytest.mark.parametrize("change", [{"mean": "AAAA"}, {"basis": "*"}, {"dimension": 3}, {"fingerprint": "0"}])
def test_a_damaged_file_is_refused(cloud: Floats, tmp_path: Path, change: dict[str, object]) -> None:
    file = tmp_path / "m.json"
    fit_projection(cloud, 4).save(file)
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(ModelUnavailableError):
        TokenProjection.load(file)


def test_a_projection_is_found_for_vectors_of_its_length_only(cloud: Floats, tmp_path: Path) -> None:
    assert find_projection("all-MiniLM-L6-v2", model_folder=tmp_path, hidden=384) is not None
    assert find_projection("all-MiniLM-L6-v2", model_folder=tmp_path, hidden=12) is None
    assert find_projection("../projections/unknown", model_folder=tmp_path, hidden=384) is None
    fit_projection(cloud, 4).save(tmp_path / PROJECTION_FILE)
    assert find_projection("unknown", model_folder=tmp_path, hidden=12) is not None
    with pytest.raises(ModelUnavailableError):
        find_projection("unknown", model_folder=tmp_path, hidden=13)


def test_a_cosine_survives_the_compact_form() -> None:
    random = np.random.default_rng(3).standard_normal((40, 128))
    unit = (random / np.linalg.norm(random, axis=1, keepdims=True)).astype(np.float32)
    np.testing.assert_allclose(compact_cosines(compact(unit), compact(unit)), unit @ unit.T, atol=0.015)


def test_token_vectors_are_of_the_texts_own_word_pieces(minilm: OnnxSentenceEncoder) -> None:
    texts = ["", "My cat sleeps. Does yours?", "cat " * 400]
    empty, cat, long = minilm.encode_with_tokens(texts)
    space = minilm.tokens
    assert space is not None
    for encoding, count in ((empty, 0), (cat, 7), (long, minilm.max_tokens - 2)):
        assert encoding.tokens is not None
        assert encoding.tokens.fingerprint == space.fingerprint
        assert encoding.tokens.ids.shape == (count,)
        assert encoding.tokens.vectors.shape == (count, space.dimension)
    assert cat.tokens is not None
    assert [token_id in space.sentence_ends for token_id in cat.tokens.ids] == [False] * 3 + [True] + [False] * 2 + [
        True
    ]
    np.testing.assert_array_equal([e.vector for e in (empty, cat, long)], minilm.encode(texts))


def test_tokens_are_the_same_alone_and_in_a_batch(minilm: OnnxSentenceEncoder) -> None:
    texts = ["My cat sleeps.", "The kitten naps on a very long and soft blanket by the window."]
    for alone, together in zip(
        [minilm.encode_with_tokens([text])[0] for text in texts], minilm.encode_with_tokens(texts), strict=True
    ):
        assert alone.tokens is not None
        assert together.tokens is not None
        np.testing.assert_array_equal(alone.tokens.ids, together.tokens.ids)
        np.testing.assert_allclose(alone.tokens.vectors, together.tokens.vectors, atol=1)


def test_words_of_like_meaning_are_nearer_than_others(minilm: OnnxSentenceEncoder) -> None:
    def tokens(text: str) -> TokenVectors:
        found = minilm.encode_with_tokens([text])[0].tokens
        assert found is not None
        return found

    question = tokens("car").vectors
    near, far = tokens("I bought a new vehicle").vectors, tokens("We ate soup on Sunday").vectors
    assert compact_cosines(question, near).max() > compact_cosines(question, far).max() + 0.1
