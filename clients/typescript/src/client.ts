import { type CallOptions, type Client, type Transport, createClient } from "@connectrpc/connect";
import type { Tracer } from "@opentelemetry/api";

import { InsightService } from "../gen/mneme/agentic/v1/insights_pb.js";
import { NoteService } from "../gen/mneme/agentic/v1/notes_pb.js";
import { ActivityService } from "../gen/mneme/episodic/v1/activity_pb.js";
import { ClusterService } from "../gen/mneme/episodic/v1/clusters_pb.js";
import { EpisodicService } from "../gen/mneme/episodic/v1/episodic_pb.js";
import { AuditService } from "../gen/mneme/gateway/v1/audit_pb.js";
import { ConversationService } from "../gen/mneme/gateway/v1/conversations_pb.js";
import { DeliveryService } from "../gen/mneme/gateway/v1/deliveries_pb.js";
import { EmbeddingModelService } from "../gen/mneme/gateway/v1/embedding_model_pb.js";
import { ErasureService } from "../gen/mneme/gateway/v1/erasure_pb.js";
import { DocumentService } from "../gen/mneme/gateway/v1/documents_pb.js";
import { GrantService } from "../gen/mneme/gateway/v1/grants_pb.js";
import { MaintenanceService } from "../gen/mneme/gateway/v1/maintenance_pb.js";
import { MemoryService } from "../gen/mneme/gateway/v1/memory_pb.js";
import { PortabilityService } from "../gen/mneme/gateway/v1/portability_pb.js";
import { CodeService } from "../gen/mneme/semantic/v1/code_pb.js";
import { FactService } from "../gen/mneme/semantic/v1/facts_pb.js";
import { ProcedureService } from "../gen/mneme/semantic/v1/procedures_pb.js";
import { ProfileService } from "../gen/mneme/semantic/v1/profile_pb.js";
import { SupersessionService } from "../gen/mneme/semantic/v1/supersessions_pb.js";
import { ContextWindowService } from "../gen/mneme/session/v1/context_window_pb.js";
import { SessionService } from "../gen/mneme/session/v1/session_pb.js";
import { MnemeError } from "./errors.js";
import { DEFAULT_RETRY, type RetryPolicy, sleep } from "./retry.js";
import { Tracing } from "./spans.js";
import { CallingTransport, type Credential } from "./transport.js";

/** Settings of a client. */
export interface ClientOptions {
  /**
   * Credential: an API key or a token of an identity provider; none where the service runs in development mode. A function
   * is called for each call, so that tokens can be renewed.
   */
  readonly apiKey?: Credential;
  /**
   * Deadline of a call, repeats included, where the call has none of its own. 10,000 by default. `rememberStream` has 300,000,
   * and `exportUser`, `importUser` and `recordActivityStream` have an hour.
   */
  readonly timeoutMs?: number;
  /** When and how often a failed call is repeated. */
  readonly retry?: Partial<RetryPolicy>;
  /** Makes the spans of calls; by default a tracer of OpenTelemetry's global provider. */
  readonly tracer?: Tracer;
  /**
   * Whether spans hold the text of queries. By default they do only where the environment variable
   * OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT is "true".
   */
  readonly capturesContent?: boolean;
}

/** How a client reaches the service. */
export interface Connection {
  readonly transport: Transport;
  /** The protocol, as spans name it: "grpc" or "connect_rpc". */
  readonly system: string;
  readonly address: URL;
  readonly close?: () => void;
}

const VISIBILITY_CALL_TIMEOUT_MS = 5_000; // the service waits this long before it responds that a write is not visible

/**
 * Has the client of every service of the gateway as a property. Every call has a deadline, every write a request id; a
 * call that fails with UNAVAILABLE, or that a closing server cancels, is repeated with it. Failures are `MnemeError`.
 */
export class MnemeClient {
  readonly activity: Client<typeof ActivityService>;
  readonly audit: Client<typeof AuditService>;
  readonly clusters: Client<typeof ClusterService>;
  readonly code: Client<typeof CodeService>;
  readonly contextWindows: Client<typeof ContextWindowService>;
  readonly conversations: Client<typeof ConversationService>;
  readonly deliveries: Client<typeof DeliveryService>;
  readonly embeddingModel: Client<typeof EmbeddingModelService>;
  readonly episodes: Client<typeof EpisodicService>;
  readonly erasures: Client<typeof ErasureService>;
  readonly facts: Client<typeof FactService>;
  readonly grants: Client<typeof GrantService>;
  readonly documents: Client<typeof DocumentService>;
  readonly insights: Client<typeof InsightService>;
  readonly maintenance: Client<typeof MaintenanceService>;
  readonly memory: Client<typeof MemoryService>;
  readonly notes: Client<typeof NoteService>;
  readonly portability: Client<typeof PortabilityService>;
  readonly procedures: Client<typeof ProcedureService>;
  readonly profiles: Client<typeof ProfileService>;
  readonly sessions: Client<typeof SessionService>;
  readonly supersessions: Client<typeof SupersessionService>;

  private readonly retry: RetryPolicy;
  private readonly calls: CallingTransport;

  /** Use `connect` of "@mneme-ai/client/node" or "@mneme-ai/client/web", unless the transport is one of your own. */
  constructor(
    private readonly connection: Connection,
    options: ClientOptions = {},
  ) {
    this.retry = { ...DEFAULT_RETRY, ...options.retry };
    const transport = (this.calls = new CallingTransport(connection.transport, {
      credential: options.apiKey,
      timeoutMs: options.timeoutMs ?? 10_000,
      retry: this.retry,
      tracing: new Tracing(connection.system, connection.address, options.tracer, options.capturesContent),
    }));
    this.activity = createClient(ActivityService, transport);
    this.audit = createClient(AuditService, transport);
    this.clusters = createClient(ClusterService, transport);
    this.code = createClient(CodeService, transport);
    this.contextWindows = createClient(ContextWindowService, transport);
    this.conversations = createClient(ConversationService, transport);
    this.deliveries = createClient(DeliveryService, transport);
    this.embeddingModel = createClient(EmbeddingModelService, transport);
    this.episodes = createClient(EpisodicService, transport);
    this.erasures = createClient(ErasureService, transport);
    this.facts = createClient(FactService, transport);
    this.grants = createClient(GrantService, transport);
    this.documents = createClient(DocumentService, transport);
    this.insights = createClient(InsightService, transport);
    this.maintenance = createClient(MaintenanceService, transport);
    this.memory = createClient(MemoryService, transport);
    this.notes = createClient(NoteService, transport);
    this.portability = createClient(PortabilityService, transport);
    this.procedures = createClient(ProcedureService, transport);
    this.profiles = createClient(ProfileService, transport);
    this.sessions = createClient(SessionService, transport);
    this.supersessions = createClient(SupersessionService, transport);
  }

  /** Closes the connection; calls under way, and later ones, fail with `Code.Canceled`. */
  close(): void {
    this.calls.close();
    this.connection.close?.();
  }

  /**
   * Resolves when the writes of a consistency token can be found.
   *
   * @throws Error They cannot be found within `timeoutMs`, 30,000 by default. `cause` is what the last call failed with.
   * @throws MnemeError The service refused.
   */
  async waitUntilVisible(userId: string, token: string, options: { timeoutMs?: number; signal?: AbortSignal } = {}): Promise<void> {
    const timeoutMs = options.timeoutMs ?? 30_000;
    const deadline = Date.now() + timeoutMs;
    let last: unknown;
    for (let left = timeoutMs; left > 0; left = deadline - Date.now()) {
      try {
        // Any query will do: only `consistent` of the response is read.
        const asked = { userId, query: "hello", limit: 1, consistencyToken: token };
        const call = { timeoutMs: Math.min(left, VISIBILITY_CALL_TIMEOUT_MS), signal: options.signal };
        if ((await this.memory.recall(asked, call)).consistent) return;
      } catch (error) {
        if (options.signal?.aborted || this.calls.isClosed || !(error instanceof MnemeError && error.retryable)) throw error;
        last = error;
      }
      await sleep(this.retry.initialBackoffMs, options.signal);
    }
    throw new Error(`not visible after ${timeoutMs} ms`, { cause: last });
  }
}

/**
 * Iterates over the items of a list and makes the call for the next page when it is needed.
 *
 *     for await (const fact of pages(client.facts.listFacts, { userId }, (page) => page.facts)) {
 */
export async function* pages<Request extends { pageToken?: string }, Page extends { nextPageToken: string }, Item>(
  list: (request: Request, options?: CallOptions) => Promise<Page>,
  request: NoInfer<Request>,
  items: (page: Page) => readonly Item[],
  options?: CallOptions,
): AsyncGenerator<Item, void, undefined> {
  for (let pageToken = request.pageToken ?? ""; ; ) {
    const page = await list({ ...request, pageToken }, options);
    yield* items(page);
    if (page.nextPageToken === "") return;
    pageToken = page.nextPageToken;
  }
}
