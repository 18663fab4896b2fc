"""Every field of the public requests and responses is offered by the Python client, or named here with the reason."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from google.protobuf import descriptor_pool
from google.protobuf.descriptor import Descriptor

import mneme_client
from services.gateway.door import TIER_SERVICES
from tests.unit.gateway.test_reader_scopes import GATEWAY_SERVICES

FOLDER: Final = Path(mneme_client.__file__).parent
MODULES: Final = [path.read_text("utf-8") for path in FOLDER.rglob("*.py") if "blocking" not in path.parts]
WORDS: Final = frozenset(word for module in MODULES for word in re.findall(r"\w+", module))
VECTORS: Final = "vectors are for services that embed themselves"
FITTING: Final = "for those who fit rankers"
BULK: Final = "reading named episodes in bulk is for services"
NOT_OFFERED: Final[Mapping[str, str]] = {
    "SearchEpisodesRequest.query_vector": VECTORS,
    "SearchFactsRequest.query_vector": VECTORS,
    "SearchNotesRequest.query_vector": VECTORS,
    "RecallRequest.with_features": FITTING,
    "RecallResponse.feature_names": FITTING,
    "Memory.features": FITTING,
    "BatchGetEpisodesRequest": BULK,
    "BatchGetEpisodesResponse.omitted_episode_ids": BULK,
    "UpdateLinkRequest.update_mask": "a link has one field to update",
    "SearchEpisodesResponse.omitted_count": "a caller sees fewer hits than it asked for",
    "SearchFactsResponse.omitted_count": "as of episodes",
    "SearchNotesResponse.omitted_count": "as of episodes",
}


def _messages(*, of_requests: bool) -> dict[str, Descriptor]:
    """The messages of all public methods, with those that they hold."""
    found: dict[str, Descriptor] = {}

    def add(message: Descriptor) -> None:
        if message.file.package.startswith("mneme.") and message.name not in found:
            found[message.name] = message
            for field in message.fields:
                if field.message_type is not None and not of_requests:
                    add(field.message_type)

    for name in (*(service.full_name for service in TIER_SERVICES), *GATEWAY_SERVICES):
        for method in descriptor_pool.Default().FindServiceByName(name).methods:
            add(method.input_type if of_requests else method.output_type)
    return found


def _not_sent() -> Iterator[str]:
    """Fields that no module names which builds their request. Tokens of pages are set where all pages are read."""
    for name, message in _messages(of_requests=True).items():
        building = [module for module in MODULES if re.search(rf"\b{name}\b", module)]
        if not building and message.fields:
            yield name
        else:
            words = {word for module in building for word in re.findall(r"\w+", module)}
            yield from (f"{name}.{field.name}" for field in message.fields if field.name not in words | {"page_token"})


def _not_read() -> Iterator[str]:
    for name, message in _messages(of_requests=False).items():
        yield from (f"{name}.{field.name}" for field in message.fields if field.name not in WORDS)


def test_spec_9_2_the_python_client_offers_every_field() -> None:
    assert sorted({*_not_sent(), *_not_read()}) == sorted(NOT_OFFERED)
