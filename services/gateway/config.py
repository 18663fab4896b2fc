"""Settings of the gateway."""

from __future__ import annotations

from dataclasses import dataclass, field

from services.common.settings_types import Seconds
from services.gateway.activity_procedures import ActivityProcedureSettings
from services.gateway.audit.recorder import AuditSettings
from services.gateway.context.model import ContextSettings
from services.gateway.context_window.settings import ContextWindowSettings
from services.gateway.documents.config import DocumentSettings
from services.gateway.erasure.model import ErasureSettings
from services.gateway.grants.model import GrantSettings
from services.gateway.http.settings import HttpSettings
from services.gateway.journal.admission import AdmissionSettings
from services.gateway.journal.dispatcher import DispatcherSettings
from services.gateway.journal.notice import NoticeSettings
from services.gateway.journal.stores.postgres import PostgresJournalSettings
from services.gateway.journal.uses import UseSettings
from services.gateway.marks import MarkSettings
from services.gateway.portability.service import PortabilitySettings
from services.gateway.recall.answer.conflicts import ConflictSettings
from services.gateway.recall.question.task_types import IntentSettings
from services.gateway.recall.ranking.evidence import EvidenceWeights
from services.gateway.recall.ranking.fitted import RankerSettings
from services.gateway.recall.ranking.profiles import ProfileSettings
from services.gateway.recall.settings import RecallSettings
from services.gateway.recall.stages.fusion import DerivedWeights
from services.gateway.recall.stages.loadout import LoadoutSettings
from services.gateway.recall.stages.rewriting import RewritingSettings
from services.gateway.remembering import RememberSettings
from services.gateway.requests import RequestLimits
from services.gateway.sessions import SessionSettings
from services.gateway.suggestions import SuggestionSettings
from services.gateway.upstream import UpstreamSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class TierTargets:
    """Where the tiers are called: host:port, dns:///name:port, or unix:/path."""

    session: str = "127.0.0.1:7701"
    episodic: str = "127.0.0.1:7702"
    semantic: str = "127.0.0.1:7703"
    agentic: str = "127.0.0.1:7704"


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewaySettings:
    """Everything that can be set in the gateway."""

    limits: RequestLimits = field(default_factory=RequestLimits)
    upstream: UpstreamSettings = field(default_factory=UpstreamSettings)
    remember: RememberSettings = field(default_factory=RememberSettings)
    admission: AdmissionSettings = field(default_factory=AdmissionSettings)
    journal: PostgresJournalSettings = field(default_factory=PostgresJournalSettings)
    dispatcher: DispatcherSettings = field(default_factory=DispatcherSettings)
    uses: UseSettings = field(default_factory=UseSettings)
    notice: NoticeSettings = field(default_factory=NoticeSettings)
    sessions: SessionSettings = field(default_factory=SessionSettings)
    grants: GrantSettings = field(default_factory=GrantSettings)
    documents: DocumentSettings = field(default_factory=DocumentSettings)
    erasure: ErasureSettings = field(default_factory=ErasureSettings)
    audit: AuditSettings = field(default_factory=AuditSettings)
    activity_procedures: ActivityProcedureSettings = field(default_factory=ActivityProcedureSettings)
    portability: PortabilitySettings = field(default_factory=PortabilitySettings)
    marks: MarkSettings = field(default_factory=MarkSettings)
    recall: RecallSettings = field(default_factory=RecallSettings)
    rewriting: RewritingSettings = field(default_factory=RewritingSettings)
    intent: IntentSettings = field(default_factory=IntentSettings)
    loadout: LoadoutSettings = field(default_factory=LoadoutSettings)
    conflicts: ConflictSettings = field(default_factory=ConflictSettings)
    evidence: EvidenceWeights = field(default_factory=EvidenceWeights)
    derived: DerivedWeights = field(default_factory=DerivedWeights)
    profiles: ProfileSettings = field(default_factory=ProfileSettings)
    rankers: RankerSettings = field(default_factory=RankerSettings)
    context: ContextSettings = field(default_factory=ContextSettings)
    context_window: ContextWindowSettings = field(default_factory=ContextWindowSettings)
    suggestions: SuggestionSettings = field(default_factory=SuggestionSettings)
    http: HttpSettings = field(default_factory=HttpSettings)
    deadline_seconds: Seconds = 10.0  # for a call whose deadline is not known
    tells_other_gateways: bool = True  # by NOTIFY; a gateway that is alone needs not
