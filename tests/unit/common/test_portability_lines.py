"""Lines of exported records, also those of earlier versions."""

from __future__ import annotations

import json

import pytest

from services.common.copying.model import Kind
from services.common.portability.lines import from_fields, kind_of, to_line

KIND = Kind(name="test.words", key=("word",), fields=frozenset({"tenant_id", "user_id", "word", "places", "number"}))
OWNER = ("acme", "ada")
RECORD = {"tenant_id": "acme", "user_id": "ada", "word": "w", "places": [2], "number": 7}


def test_spec_6_7_a_record_is_read_back_as_it_was_written() -> None:
    name, fields = kind_of(to_line(KIND, RECORD, frozenset()))
    assert (name, from_fields(KIND, fields, OWNER, frozenset())) == ("test.words", RECORD)


def test_spec_6_7_a_line_of_an_earlier_version_gets_the_fields_that_it_lacks() -> None:
    _, fields = kind_of(json.dumps({"kind": "test.words", "record": {"word": "w", "number": 7}}))
    added: dict[str, list[int]] = {"places": []}
    assert from_fields(KIND, fields, OWNER, frozenset(), added) == {**RECORD, "places": []}
    assert from_fields(KIND, {**fields, "places": [2]}, OWNER, frozenset(), added) == RECORD
    for others, known, cause in (({}, {}, "without the fields places"), ({"colour": "red"}, added, "not known: 1")):
        with pytest.raises(ValueError, match=cause):
            from_fields(KIND, {**fields, **others}, OWNER, frozenset(), known)
