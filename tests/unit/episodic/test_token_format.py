import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.embedding.tokens import TokenSpace, TokenVectors
from services.episodic.token_format import pack, packed_shapes, unpack

SPACE = TokenSpace("space", dimension=3)

components = st.integers(-127, 127)
token = st.tuples(st.integers(0, 65_535), st.tuples(components, components, components))


def piece(content: list[tuple[int, tuple[int, int, int]]], fingerprint: str = "space") -> TokenVectors:
    ids = np.array([token_id for token_id, _ in content], dtype=np.uint16)
    return TokenVectors(fingerprint, ids, np.array([v for _, v in content], dtype=np.int8).reshape(len(content), 3))


@given(st.lists(st.lists(st.lists(token, max_size=9), max_size=5), min_size=1, max_size=4))
def test_what_was_packed_comes_back(contents: list[list[list[tuple[int, tuple[int, int, int]]]]]) -> None:
    episodes = [[piece(content) for content in pieces] for pieces in contents]
    packed = [pack(SPACE, pieces) for pieces in episodes]
    for pieces, data in zip(episodes, packed, strict=True):
        assert len(data) == 12 + 4 * len(pieces) + 5 * sum(map(len, pieces))
    shapes = packed_shapes(packed)
    assert shapes.sound.all()
    assert shapes.dimensions.tolist() == [3] * len(packed)
    assert shapes.pieces.tolist() == [len(pieces) for pieces in episodes]
    assert shapes.tokens.tolist() == [sum(map(len, pieces)) for pieces in episodes]
    found = unpack(packed)
    assert found.sizes.tolist() == [sum(map(len, pieces)) for pieces in episodes]
    starts = [*found.piece_starts.tolist(), len(found.ids)]
    every = [own for pieces in episodes for own in pieces]
    for own, start, end in zip(every, starts[:-1], starts[1:], strict=True):
        np.testing.assert_array_equal(found.ids[start:end], own.ids)
        np.testing.assert_array_equal(found.vectors[start:end], own.vectors)
    assert not found.vectors.flags.writeable


def test_the_format_is_what_stores_hold() -> None:
    data = pack(SPACE, [piece([(258, (1, -1, 127))]), piece([(7, (0, 2, -127))])])
    # Format, dimension, pieces, tokens; where pieces begin; ids; vectors.
    assert data.hex() == "010003000200000002000000" + "0000000001000000" + "02010700" + "01ff7f000281"


def test_vectors_of_another_space_are_not_packed() -> None:
    with pytest.raises(ValueError, match="another space"):
        pack(SPACE, [piece([]), piece([], fingerprint="other")])
    with pytest.raises(ValueError, match="another space"):
        pack(TokenSpace("space", dimension=4), [piece([])])


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d[:-1],
        lambda d: d + b"x",
        lambda d: b"\x02" + d[1:],
        lambda d: d[:2] + b"\xff" * 10 + d[12:],
        lambda _: b"\x01",
        lambda _: b"",
    ],
)
def test_damaged_bytes_are_refused(change: object) -> None:
    data = pack(SPACE, [piece([(5, (1, 2, 3))])])
    assert callable(change)
    assert packed_shapes([data, change(data), data]).sound.tolist() == [True, False, True]
    with pytest.raises(ValueError, match="packed token vectors"):
        unpack([data, change(data)])


def test_vectors_of_different_dimensions_are_not_put_together() -> None:
    empty = pack(SPACE, [piece([])])
    with pytest.raises(ValueError, match="different dimensions"):
        unpack([empty, pack(TokenSpace("space", dimension=4), [])])
