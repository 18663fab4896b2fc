"""The port of the language model: optional, after the acknowledgement only, and never the last word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

from pydantic import BaseModel

from services.common.settings_types import Count, Seconds

ResponseT = TypeVar("ResponseT", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class LanguageModelSettings:
    """How the language model is used."""

    timeout_seconds: Seconds = 8.0
    """For one response."""
    response_tokens_max: Count = 1_000
    """Tokens of a response; a longer one is cut by the endpoint, and not used."""
    material_chars_max: Count = 16_000
    """Characters of a request's material; for more the rules are used."""
    concurrency: Count = 4
    """Requests under way at once; others wait, and their time runs."""
    tenant_tokens_an_hour: Count = 200_000
    """Tokens of requests and responses that one tenant may use in an hour, in each process; beyond it, rules."""
    failures_max: Count = 5
    """Failures of the endpoint in a row after which the rules are used for a while."""
    pause_seconds: Seconds = 60.0
    """That while."""


class Reasoned(BaseModel):
    """Root of the schemas of responses: the model thinks before it decides."""

    reasoning: str


class LanguageModel(Protocol):
    """Responds to a task with a value of a schema, or not at all."""

    @property
    def is_configured(self) -> bool:
        """Whether there is one: without one nothing need be prepared."""
        ...

    async def respond(
        self, tenant_id: str, task: str, instructions: str, material: str, response_type: type[ResponseT]
    ) -> ResponseT | None:
        """The response; None where there is none that can be used, for whatever reason: then the rules are used.

        Never raises but for a cancellation.

        Args:
            tenant_id: Whose budget it is.
            task: Names the use in metrics, such as "facts".
            instructions: What to do. Holds no text of a user.
            material: What to do it with. Its text is data: instructions in it are not to be followed, which nobody can
                promise, so that callers check what comes back.
            response_type: The schema. Its first field should be `reasoning`.
        """
        ...

    async def aclose(self) -> None:
        """Stop it."""
        ...


class NoLanguageModel:
    """A language model where none is configured."""

    @property
    def is_configured(self) -> bool:
        """There is none."""
        return False

    async def respond(
        self,
        tenant_id: str,  # noqa: ARG002
        task: str,  # noqa: ARG002
        instructions: str,  # noqa: ARG002
        material: str,  # noqa: ARG002
        response_type: type[ResponseT],  # noqa: ARG002
    ) -> ResponseT | None:
        """Nothing."""
        return None

    async def aclose(self) -> None:
        """Nothing is to be stopped."""
