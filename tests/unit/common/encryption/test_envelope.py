"""Values, their keys, and what they are bound to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.encryption.cipher import DESTROYED, PLAIN, Cipher, UserCipher
from services.common.encryption.envelope import (
    SEALED_TEXT,
    DataKey,
    DecryptionError,
    associated_data,
    from_text,
    new_data_key,
    to_text,
)

TEXTS = st.text(st.characters(codec=None, exclude_characters="\x00"), max_size=200)
KEY = new_data_key()
ADA = UserCipher("acme", "ada", KEY)


@given(TEXTS)
def test_spec_7_3_every_text_comes_back(text: str) -> None:
    for cipher in (ADA, PLAIN, DESTROYED):
        assert cipher.open("r1", "f", cipher.seal("r1", "f", text)) == text
        assert cipher.open_name("f", cipher.seal_name("f", text)) == text


@given(TEXTS.filter(bool))
def test_spec_7_3_a_stored_text_does_not_hold_the_text(text: str) -> None:
    stored = ADA.seal("r1", "f", text)
    assert stored.startswith(SEALED_TEXT)
    assert len(text) < 4 or text not in stored
    assert ADA.seal("r1", "f", text) != stored  # the nonce is another one


@given(st.binary(max_size=200))
def test_spec_7_3_bytes_come_back(value: bytes) -> None:
    stored = ADA.seal_bytes("r1", "f", value)
    assert ADA.open_bytes("r1", "f", stored) == value


@given(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5) | st.none(), max_size=4))
def test_spec_7_3_objects_come_back(value: dict[str, object]) -> None:
    for cipher in (ADA, PLAIN):
        assert cipher.open_json("r1", "f", cipher.seal_json("r1", "f", value)) == value


@given(TEXTS.filter(bool), st.data())
def test_spec_7_3_a_changed_byte_is_noticed(text: str, data: st.DataObject) -> None:
    envelope = bytearray(KEY.seal(text.encode("utf-8", "surrogatepass"), b"a"))
    place = data.draw(st.integers(0, len(envelope) - 1))
    envelope[place] ^= data.draw(st.integers(1, 255))
    with pytest.raises(DecryptionError):
        KEY.open(bytes(envelope), b"a")


@pytest.mark.parametrize(
    ("cipher", "record", "field"),
    [
        (ADA, "r2", "f"),
        (ADA, "r1", "g"),
        (UserCipher("acme", "grace", KEY), "r1", "f"),
        (UserCipher("globex", "ada", KEY), "r1", "f"),
        (UserCipher("acme", "ada", new_data_key()), "r1", "f"),
        (UserCipher("acme", "ada", DataKey(KEY.key_id, bytes(32))), "r1", "f"),
        (PLAIN, "r1", "f"),
        (DESTROYED, "r1", "f"),
    ],
)
def test_spec_7_3_a_value_opens_nowhere_else(cipher: Cipher, record: str, field: str) -> None:
    with pytest.raises(DecryptionError):
        cipher.open(record, field, ADA.seal("r1", "f", "the cat is called Miso"))
    with pytest.raises(DecryptionError):
        cipher.open_json(record, field, ADA.seal_json("r1", "f", {"a": 1}))
    with pytest.raises(DecryptionError):
        cipher.open_bytes(record, field, ADA.seal_bytes("r1", "f", b"a"))


@pytest.mark.parametrize("stored", [f"{SEALED_TEXT}?", SEALED_TEXT, f"{SEALED_TEXT}AAAA", to_text(b"\x02" * 40)])
def test_what_is_no_envelope_is_refused(stored: str) -> None:
    with pytest.raises(DecryptionError):
        ADA.open("r1", "f", stored)


def test_spec_7_3_equal_names_of_a_user_are_stored_alike_and_those_of_others_differ() -> None:
    other = UserCipher("acme", "grace", new_data_key())
    assert ADA.seal_name("speaker", "Ada") == ADA.seal_name("speaker", "Ada")
    assert len({ADA.seal_name(*pair) for pair in (("speaker", "Ada"), ("speaker", "Bob"), ("place", "Ada"))}) == 3
    assert ADA.seal_name("speaker", "Ada") != other.seal_name("speaker", "Ada")


def test_plain_values_from_before_stay_readable() -> None:
    for cipher in (ADA, PLAIN, DESTROYED):
        assert cipher.open("r1", "f", "plain") == "plain"
        assert cipher.open_json("r1", "f", {"sources": ["a"]}) == {"sources": ["a"]}
        assert cipher.open_json("r1", "f", None) is None
        assert cipher.open_bytes("r1", "f", b"plain") == b"plain"


def test_a_plain_text_cannot_pass_for_an_encrypted_one() -> None:
    forged = ADA.seal("r1", "f", "somebody else's words")
    stored = PLAIN.seal("r1", "f", forged)
    assert from_text(stored) == forged
    assert ADA.open("r1", "f", stored) == forged


@given(st.lists(st.text(max_size=5), max_size=4), st.lists(st.text(max_size=5), max_size=4))
def test_lists_of_parts_have_associated_data_of_their_own(one: list[str], other: list[str]) -> None:
    assert (associated_data(*one) == associated_data(*other)) == (one == other)


def test_a_key_is_not_printed() -> None:
    assert KEY.key.hex() not in repr(KEY)
    assert repr(KEY.key) not in repr(KEY)
