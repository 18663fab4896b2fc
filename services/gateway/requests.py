"""From the requests of mneme.gateway.v1 to commands and queries: checks every field and names the wrong ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import accumulate
from typing import Final, Literal, TypeAlias

from mneme.gateway.v1 import context_pb2, deliveries_pb2, memory_pb2, recall_pb2
from services.common.convert import moment, scope_from_proto, turn_from_proto
from services.common.errors import InvalidArgument
from services.common.idempotency.requests import request_digest
from services.common.paging import RESPONSE_BYTES_MAX
from services.common.scope import Scope
from services.common.settings_types import Count, ResponseBytes, table
from services.common.turns import TURNS_APART, Turn, TurnLimits
from services.common.validation import Violations
from services.gateway.context.model import ContextOrder, ContextRequest, ContextSettings, SectionKind
from services.gateway.grants.model import MemoryKind
from services.gateway.journal.model import (
    FeedbackCommand,
    FeedbackValue,
    JournalLimits,
    RememberCommand,
    RetryCommand,
    SequenceSpan,
    Tier,
)
from services.gateway.recall.choices import (
    SCORING_WEIGHT_MAX,
    ConflictChoice,
    ConflictPolicy,
    Profile,
    ScoringChoice,
    TaskType,
)
from services.gateway.recall.model import RECALL_TIERS, RecallQuery
from services.gateway.recall.ranking.profiles import ProfileSettings, weight_names
from services.gateway.recall.settings import RecallSettings
from services.gateway.recall.superseded import until_seconds
from services.gateway.tokens import ConsistencyTokens


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Bounds of requests."""

    turn: TurnLimits = field(default_factory=TurnLimits, metadata=table("turn"))
    journal: JournalLimits = field(default_factory=JournalLimits)
    recall: RecallSettings = field(default_factory=RecallSettings, metadata=table("gateway.recall"))
    context: ContextSettings = field(default_factory=ContextSettings, metadata=table("gateway.context"))
    profiles: ProfileSettings = field(default_factory=ProfileSettings, metadata=table("gateway.profiles"))
    page_size_default: Count = 50  # entries of a page where no number is asked for
    page_size_max: Count = 200  # entries of a page; more is cut to it
    page_bytes_max: ResponseBytes = RESPONSE_BYTES_MAX  # of what a response lists; gRPC clients take 4 MiB by default
    retry_ids_max: Count = 1_000  # dead letters in one RetryDeadLetters


_DELIVERY_ID: Final = re.compile(r"[0-9]{1,18}")
_PRESENT_SECONDS: Final = 60.0  # a time so little before the gateway's is a caller's clock, not the past
_TimeField: TypeAlias = Literal["as_of_time", "known_at_time"]


class RequestReader:
    """Reads requests; raises `InvalidArgument` with all that is wrong in one."""

    def __init__(self, limits: RequestLimits, tokens: ConsistencyTokens) -> None:
        """Checks against `limits`."""
        self._limits = limits
        self._tokens = tokens

    @property
    def limits(self) -> RequestLimits:
        """Bounds of requests."""
        return self._limits

    def remember(self, request: memory_pb2.RememberRequest, *, now: datetime, path: str = "") -> RememberCommand:
        """The command of one item.

        Args:
            request: The item.
            now: For turns without a time; each is later than the one before, so that it can take something back.
            path: What field paths begin with, such as "items[3].".
        """
        violations = Violations()
        self._ids(violations, path, user_id=request.user_id, conversation_id=request.conversation_id)
        self._request_id(violations, request.request_id, path=path, required=False)
        limits = self._limits.journal
        violations.count(f"{path}turns", len(request.turns), count_min=1, count_max=limits.turns_per_item_max)
        turns: list[Turn] = []
        for index, turn in enumerate(request.turns[: limits.turns_per_item_max]):
            try:
                said, field_path = now + index * TURNS_APART, f"{path}turns[{index}]"
                turns.append(turn_from_proto(turn, now=said, field_path=field_path, limits=self._limits.turn))
            except InvalidArgument as error:
                violations.include(error)
        scope = self._scope(violations, request, "scope", path=path)
        violations.raise_if_any()
        return RememberCommand(
            user_id=request.user_id,
            conversation_id=request.conversation_id,
            turns=tuple(turns),
            scope=scope,
            request_id=request.request_id,
            digest=request_digest(request),
        )

    def remember_batch(
        self, request: memory_pb2.RememberBatchRequest, *, now: datetime
    ) -> list[RememberCommand | InvalidArgument]:
        """The commands of a batch, with the error in the place of an item that is not valid.

        Raises:
            InvalidArgument: The batch as a whole is empty or too large.
        """
        violations = Violations()
        limits = self._limits.journal
        violations.count("items", len(request.items), count_min=1, count_max=limits.items_per_batch_max)
        turn_count = sum(len(item.turns) for item in request.items)
        violations.count("items[].turns", turn_count, count_max=limits.turns_per_batch_max)
        violations.raise_if_any()
        said = (now + count * TURNS_APART for count in accumulate((len(i.turns) for i in request.items), initial=0))
        return [self.remember_or_error(r, now=next(said), path=f"items[{i}].") for i, r in enumerate(request.items)]

    def remember_or_error(
        self, request: memory_pb2.RememberRequest, *, now: datetime, path: str
    ) -> RememberCommand | InvalidArgument:
        """The command of an item, or what is wrong with it."""
        try:
            return self.remember(request, now=now, path=path)
        except InvalidArgument as error:
            return error

    def recall(self, request: recall_pb2.RecallRequest, tenant_id: str, *, now: datetime) -> RecallQuery:
        """The query of a recall."""
        violations = Violations()
        settings = self._limits.recall
        self._ids(violations, "", user_id=request.user_id)
        if request.conversation_id:
            self._ids(violations, "", conversation_id=request.conversation_id)
        violations.text("query", request.query, chars_max=settings.query_chars_max)
        violations.number("limit", request.limit, low=0, high=settings.limit_max)
        tiers = self._tiers(violations, request.tiers)
        if request.task_type:
            violations.enum("task_type", request.task_type, TaskType)
        scoring = self._scoring(violations, request.scoring)
        conflicts = self._conflicts(violations, request)
        scope = self._scope(violations, request, "scope")
        as_of = self._moment(violations, request, "as_of_time") or now
        known_at = self._moment(violations, request, "known_at_time")
        written = self._written(violations, request.consistency_token, tenant_id)
        violations.raise_if_any()
        return RecallQuery(
            user_id=request.user_id,
            text=request.query,
            limit=request.limit or settings.limit_default,
            as_of=as_of,
            known_at=known_at,
            is_past=until_seconds(as_of) < now.timestamp() - _PRESENT_SECONDS,
            scope=scope,
            conversation_id=request.conversation_id,
            tiers=tiers,
            written=written,
            are_tiers_given=bool(request.tiers),
            task_type=TaskType(request.task_type) if request.task_type else None,
            scoring=scoring,
            conflicts=conflicts,
            with_features=request.with_features,
            include_tentative_facts=request.include_tentative_facts,
        )

    def recall_stream(self, request: recall_pb2.RecallStreamRequest, tenant_id: str, *, now: datetime) -> RecallQuery:
        """The query of a streamed recall."""
        try:
            return replace(self.recall(request.recall, tenant_id, now=now), method="RecallStream")
        except InvalidArgument as error:
            raise InvalidArgument(
                error.message,
                reason=error.reason,
                metadata=error.metadata,
                violations=[replace(found, field_path=f"recall.{found.field_path}") for found in error.violations],
            ) from None

    def build_context(
        self, request: context_pb2.BuildContextRequest, tenant_id: str, *, now: datetime
    ) -> tuple[RecallQuery, ContextRequest]:
        """The query behind a context, and how it is to be written."""
        settings = self._limits.context
        budget = request.token_budget or settings.budget_default
        violations = Violations()
        violations.number("token_budget", budget, low=settings.budget_min, high=settings.budget_max)
        order = ContextOrder.BEST_FIRST
        if request.order and violations.enum("order", request.order, ContextOrder):
            order = ContextOrder(request.order)
        section_budgets = self._section_budgets(violations, request.section_budgets, budget)
        query = None
        recall = recall_pb2.RecallRequest(
            user_id=request.user_id,
            query=request.query,
            # Turns are seldom shorter than the tokens assumed here, so more would not fit anyway.
            limit=min(self._limits.recall.limit_max, max(20, budget // settings.tokens_per_memory_min)),
            conversation_id=request.conversation_id,
            consistency_token=request.consistency_token,
            task_type=request.task_type,
            conflict_policy=request.conflict_policy,
            preferred_memory_ids=request.preferred_memory_ids,
            drop_superseded=request.drop_superseded,
        )
        recall.scoring.CopyFrom(request.scoring)
        if request.HasField("scope"):
            recall.scope.CopyFrom(request.scope)
        if request.HasField("as_of_time"):
            recall.as_of_time.CopyFrom(request.as_of_time)
        if request.HasField("known_at_time"):
            recall.known_at_time.CopyFrom(request.known_at_time)
        try:
            query = self.recall(recall, tenant_id, now=now)
        except InvalidArgument as error:
            violations.include(error)
        violations.raise_if_any()
        if query is None:
            raise AssertionError("a query without a violation was read")
        wanted = min(query.limit, max(self._limits.recall.limit_default, budget // settings.tokens_per_memory))
        return replace(query, wanted=wanted, method="BuildContext"), ContextRequest(budget, section_budgets, order)

    @staticmethod
    def _section_budgets(
        violations: Violations, budgets: Sequence[context_pb2.ContextSectionBudget], token_budget: int
    ) -> dict[SectionKind, int]:
        found: dict[SectionKind, int] = {}
        named: set[SectionKind] = set()
        for index, item in enumerate(budgets[: len(SectionKind) + 1]):
            violations.number(f"section_budgets[{index}].token_budget", item.token_budget, low=0, high=token_budget)
            if not violations.enum(f"section_budgets[{index}].kind", item.kind, SectionKind):
                continue
            if SectionKind(item.kind) in named:
                violations.add(f"section_budgets[{index}].kind", "is named twice")
            named.add(SectionKind(item.kind))
            if item.HasField("token_budget"):  # else its default share
                found[SectionKind(item.kind)] = item.token_budget
        if found and sum(found.values()) > token_budget:
            violations.add("section_budgets", "must not exceed token_budget together")
        return found

    def feedback(self, request: memory_pb2.FeedbackRequest) -> FeedbackCommand:
        """The command of a judgement."""
        violations = Violations()
        self._request_id(violations, request.request_id)
        self._ids(violations, "", user_id=request.user_id)
        violations.enum("value", request.value, FeedbackValue)
        ids_max = self._limits.journal.memory_ids_max
        if request.recall_id:
            violations.uuid("recall_id", request.recall_id)
            if request.memories:
                violations.add("memories", "must be empty where there is a recall_id")
        else:
            violations.count("memories", len(request.memories), count_min=1, count_max=ids_max)
        for index, memory in enumerate(request.memories[:ids_max]):
            violations.uuid(f"memories[{index}].memory_id", memory.memory_id)
            violations.enum(f"memories[{index}].kind", memory.kind, MemoryKind)
        violations.raise_if_any()
        return FeedbackCommand(
            request_id=request.request_id,
            user_id=request.user_id,
            memories=tuple((MemoryKind(memory.kind), memory.memory_id) for memory in request.memories),
            value=FeedbackValue(request.value).stored,
            digest=request_digest(request),
            recall_id=request.recall_id,
        )

    def user(self, user_id: str, *, conversation_id: str | None = None, request_id: str | None = None) -> None:
        """Checks the ids of a request that has little else."""
        violations = Violations()
        self._ids(violations, "", user_id=user_id)
        if conversation_id is not None:
            self._ids(violations, "", conversation_id=conversation_id)
        if request_id is not None:
            self._request_id(violations, request_id)
        violations.raise_if_any()

    def page_of_user(self, user_id: str, page_size: int, *, conversation_id: str | None = None) -> int:
        """The page size of a list of what is a user's, once its ids are checked."""
        violations = Violations()
        self._ids(violations, "", user_id=user_id)
        if conversation_id is not None:
            self._ids(violations, "", conversation_id=conversation_id)
        size = self._page_size(violations, page_size)
        violations.raise_if_any()
        return size

    @property
    def page_bytes_max(self) -> int:
        """How large a page may grow."""
        return self._limits.page_bytes_max

    def dead_letters(self, request: deliveries_pb2.ListDeadLettersRequest) -> tuple[Tier | None, int]:
        """The tier whose dead letters to list, None for all, and the page size."""
        violations = Violations()
        if request.HasField("tier"):
            violations.enum("tier", request.tier, Tier)
        size = self._page_size(violations, request.page_size)
        violations.raise_if_any()
        return Tier(request.tier) if request.HasField("tier") else None, size

    def _page_size(self, violations: Violations, value: int) -> int:
        limits = self._limits
        return violations.page_size(value, default=limits.page_size_default, maximum=limits.page_size_max)

    def retry(self, request: deliveries_pb2.RetryDeadLettersRequest) -> RetryCommand:
        """The dead letters to put back."""
        violations = Violations()
        self._request_id(violations, request.request_id)
        violations.count("delivery_ids", len(request.delivery_ids), count_min=1, count_max=self._limits.retry_ids_max)
        ids: set[int] = set()
        for index, delivery_id in enumerate(request.delivery_ids[: self._limits.retry_ids_max]):
            if _DELIVERY_ID.fullmatch(delivery_id):
                ids.add(int(delivery_id))
            else:
                violations.add(f"delivery_ids[{index}]", "is not an id of a dead letter")
        violations.raise_if_any()
        return RetryCommand(request.request_id, tuple(sorted(ids)), request_digest(request))

    def _ids(self, violations: Violations, path: str, **ids: str) -> None:
        for name, value in ids.items():
            violations.identifier(f"{path}{name}", value, chars_max=self._limits.journal.id_chars_max)

    def _request_id(self, violations: Violations, value: str, *, path: str = "", required: bool = True) -> None:
        violations.identifier(
            f"{path}request_id", value, chars_max=self._limits.journal.id_chars_max, required=required
        )

    @staticmethod
    def _tiers(violations: Violations, values: Sequence[int]) -> tuple[Tier, ...]:
        tiers: list[Tier] = []
        for index, value in enumerate(values):
            if not violations.enum(f"tiers[{index}]", value, Tier):
                continue
            if Tier(value) not in RECALL_TIERS:
                violations.add(f"tiers[{index}]", "cannot be asked by a recall")
            tiers.append(Tier(value))
        return tuple(tiers) or RECALL_TIERS

    def _scoring(self, violations: Violations, message: recall_pb2.Scoring) -> ScoringChoice:
        try:
            profile = Profile(message.profile) if message.profile else self._limits.profiles.default
        except ValueError:
            violations.add("scoring.profile", f"must be one of {', '.join(profile.value for profile in Profile)}")
            return ScoringChoice()
        weights = dict(message.weights)
        if weights:
            known = weight_names(profile)
            if not weights.keys() <= set(known):
                violations.add("scoring.weights", f"of the profile {profile} are {', '.join(known)}")
            for name in weights.keys() & set(known):
                path = f"scoring.weights[{name}]"
                violations.number(path, weights[name], low=0.0, high=SCORING_WEIGHT_MAX)
        return ScoringChoice(profile, weights, is_named=bool(message.profile))

    def _conflicts(self, violations: Violations, request: recall_pb2.RecallRequest) -> ConflictChoice:
        policy = None
        if request.conflict_policy and violations.enum("conflict_policy", request.conflict_policy, ConflictPolicy):
            policy = ConflictPolicy(request.conflict_policy)
        ids = request.preferred_memory_ids
        violations.count("preferred_memory_ids", len(ids), count_max=self._limits.journal.memory_ids_max)
        if ids and policy is not ConflictPolicy.USER_OVERRIDE:
            violations.add("preferred_memory_ids", "must be empty unless conflict_policy is USER_OVERRIDE")
        for index, memory_id in enumerate(ids[: self._limits.journal.memory_ids_max]):
            self._ids(violations, "", **{f"preferred_memory_ids[{index}]": memory_id})
        return ConflictChoice(policy, frozenset(ids), request.drop_superseded)

    @staticmethod
    def _scope(
        violations: Violations,
        request: memory_pb2.RememberRequest | recall_pb2.RecallRequest,
        name: str,
        *,
        path: str = "",
    ) -> Scope:
        present, at = request.HasField("scope"), f"{path}{name}"
        return violations.read(lambda: scope_from_proto(request.scope, present=present, field_path=at), Scope())

    @staticmethod
    def _moment(violations: Violations, request: recall_pb2.RecallRequest, name: _TimeField) -> datetime | None:
        if not request.HasField(name):
            return None
        return violations.read(lambda: moment(getattr(request, name), field_path=name), None)

    def _written(self, violations: Violations, token: str, tenant_id: str) -> SequenceSpan | None:
        return violations.read(lambda: self._tokens.decode(tenant_id, token), None) if token else None
