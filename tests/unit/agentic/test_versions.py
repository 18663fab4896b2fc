"""What an import takes as an earlier state of a note (SPEC 3.7)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from services.agentic.portability import agentic_records
from services.agentic.versions import NoteText, NoteVersion, version_from_row, version_row
from services.common.tier_embedder import TierEmbedder
from services.common.turns import Attachment
from tests.contract.note_samples import NOW, interaction_id, make_note, note_id
from tests.support.embedding import HashingEmbedder

NOTE = replace(
    make_note(1),
    keywords=("boat",),
    tags=("fleet",),
    metadata={"k": "v"},
    attachments=(Attachment("s3://1", "image/png", "a boat"),),
    derived_from=(interaction_id(1),),
    source_note_ids=(note_id(2),),
    question_id=interaction_id(3),
)
VERSION = NoteVersion(NOTE.note_id, NOW, NOTE.status, NoteText.of(NOTE), was_wrong=True)


def check(record: dict[str, Any]) -> None:
    shapes = agentic_records(TierEmbedder(HashingEmbedder()), captions_max=4).shapes
    shapes["agentic.note_versions"].check(record)


@pytest.mark.parametrize("version", [VERSION, replace(VERSION, text=None, was_wrong=False)])
def test_spec_3_7_a_version_comes_back_from_its_row_and_may_be_imported(version: NoteVersion) -> None:
    row = version_row(version)
    assert version_from_row(row) == version
    check(row)


@pytest.mark.parametrize(
    "said",
    [
        {"content": "no more"},
        "text",
        {**version_row(VERSION)["said"], "content": 7},
        {**version_row(VERSION)["said"], "kind": 99},
        {**version_row(VERSION)["said"], "keywords": [None]},
        {**version_row(VERSION)["said"], "attachments": [["one part"]]},
        {**version_row(VERSION)["said"], "attachments": [["s3://1", 2, None]]},
        {**version_row(VERSION)["said"], "metadata": [1]},
        {**version_row(VERSION)["said"], "metadata": {"k": 1}},
        {**version_row(VERSION)["said"], "time": "yesterday"},
        {**version_row(VERSION)["said"], "time": 10**30},
        {**version_row(VERSION)["said"], "more": 1},
    ],
)
def test_spec_3_7_what_no_store_would_have_is_not_imported(said: object) -> None:
    with pytest.raises(ValueError, match=r"note|NoteKind"):
        check({**version_row(VERSION), "said": said})
