"""The stages of a recall, in their order. docs/pipeline.md and the tests are checked against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StageDescription:
    """One stage of the pipeline, for documentation and traces."""

    name: str
    spec: str  # items of the specification that it serves
    purpose: str
    runs: str = "always"  # when it has something to do

    @property
    def is_skippable(self) -> bool:
        """Whether recalls may go without it."""
        return self.runs != "always"


STAGES: Sequence[StageDescription] = (
    StageDescription("consistency", "5.11", "waits until the writes of the token can be found", runs="with a token"),
    StageDescription("grants", "5.3", "finds what was granted to the reader"),
    StageDescription("read_question", "5.4, 5.5", "finds speakers, times, profile and procedures; first person"),
    StageDescription("rewrite", "3.9, 5.1", "applies learned patterns to the question"),
    StageDescription("embed", "5.1", "embeds the question, once"),
    StageDescription("intent", "5.2", "classifies what the memories are wanted for, and chooses the tiers"),
    StageDescription("coarse_search", "5.1, 5.4", "asks all tiers at once, each with its share of the deadline"),
    StageDescription("quarantine", "5.3", "drops what neither the reader's scope nor a grant lets it see"),
    StageDescription(
        "profile",
        "3.10",
        "leaves out excluded sources and finds preferred ones",
        runs="where the user's profile names sources",
    ),
    StageDescription("fusion", "5.4, 5.6", "ranks turns by all evidence, facts and notes by the profile"),
    StageDescription("fetch", "5.1", "reads the text of the best, as far as a response holds them"),
    StageDescription("conflicts", "5.7", "settles contradictions among the candidates, then cuts them to the limit"),
    StageDescription("assemble", "5.10", "puts the response together with its reasons, no longer than a message"),
)
