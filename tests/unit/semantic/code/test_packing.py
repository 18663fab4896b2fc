"""Packed files that come from elsewhere."""

from __future__ import annotations

import zlib
from dataclasses import replace

import pytest

from services.semantic.code.model import PackedFile
from services.semantic.code.packing import check_packed, pack, text_of, unpack, without_text
from services.semantic.code.parser import parse_file

SOURCE = b"import os\n\nclass Tree:\n    def grow(self):\n        return os.getcwd()\n"


def packed(*, with_text: bool = True) -> PackedFile:
    return pack(parse_file("tree.py", SOURCE), SOURCE if with_text else b"")


@pytest.mark.parametrize("with_text", [True, False])
def test_spec_6_7_packed_files_are_accepted_as_they_are(*, with_text: bool) -> None:
    check_packed(packed(with_text=with_text), text_bytes_max=len(SOURCE))


def test_spec_6_7_a_file_without_its_text_is_the_same_but_for_it() -> None:
    bare = replace(packed(), content=without_text(packed().content))
    assert bare == packed(with_text=False)
    assert (unpack(bare), text_of(bare)) == (unpack(packed()), None)
    assert without_text(bare.content) == bare.content


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"text",
        zlib.compress(b"{}"),
        zlib.compress(b"[]"),
        zlib.compress(b"{"),
        zlib.compress(b"[" * 100_000),
        packed().content[:-1],
        packed(with_text=False).content[:-5],
        packed().content + b"x",
        packed(with_text=False).content + zlib.compress(b"x" * 10_000),
    ],
)
def test_spec_6_7_content_that_cannot_be_unpacked_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match="content of a file"):
        check_packed(replace(packed(), content=content), text_bytes_max=9_999)


def test_spec_6_7_content_that_unpacks_to_far_more_is_refused_without_unpacking_it() -> None:
    reader = zlib.compressobj()
    bomb = b"".join(reader.compress(b" " * 1024 * 1024) for _ in range(200)) + reader.flush()
    assert len(bomb) < 300_000
    with pytest.raises(ValueError, match="cannot be unpacked"):
        check_packed(replace(packed(), content=bomb), text_bytes_max=9_999)
