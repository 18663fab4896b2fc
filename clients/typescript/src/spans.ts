import type { DescMethod, Message } from "@bufbuild/protobuf";
import { type Attributes, type Span, SpanKind, SpanStatusCode, type Tracer, context, propagation, trace } from "@opentelemetry/api";

import type { MnemeError } from "./errors.js";

const CAPTURE_VARIABLE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";

/**
 * Operations of OpenTelemetry's GenAI conventions for memory, by the name of the RPC. Other calls have spans by the
 * conventions for RPC alone.
 */
const OPERATIONS: Readonly<Record<string, string>> = {
  Remember: "upsert_memory",
  RememberBatch: "upsert_memory",
  RememberStream: "upsert_memory",
  Recall: "search_memory",
  RecallStream: "search_memory",
  BuildContext: "search_memory",
  SearchEpisodes: "search_memory",
  SearchFacts: "search_memory",
  SearchNotes: "search_memory",
  CreateFact: "create_memory",
  CreateNote: "create_memory",
  UpdateFact: "update_memory",
  UpdateNote: "update_memory",
  DeleteFact: "delete_memory",
  DeleteNote: "delete_memory",
  Erase: "delete_memory",
  Forget: "delete_memory",
  Correct: "update_memory",
};

type Fields = Readonly<Record<string, unknown>>;

/** Makes the spans of one client. Without a configured SDK nothing is recorded or sent. */
export class Tracing {
  private readonly tracer: Tracer;
  private readonly server: Attributes;
  private readonly capturesContent: boolean;

  constructor(system: string, address: URL, tracer?: Tracer, capturesContent?: boolean) {
    this.tracer = tracer ?? trace.getTracer("@mneme-ai/client");
    const port = Number(address.port) || (address.protocol === "https:" ? 443 : 80);
    this.server = { "rpc.system": system, "server.address": address.hostname, "server.port": port };
    const environment = (globalThis as { process?: { env?: Record<string, string> } }).process?.env;
    this.capturesContent = capturesContent ?? environment?.[CAPTURE_VARIABLE]?.toLowerCase() === "true";
  }

  /** Opens a span. `request` is undefined where it is a stream. */
  start(method: DescMethod, request: Message | undefined): CallSpan {
    const operation = OPERATIONS[method.name];
    const attributes = { ...this.server, "rpc.service": method.parent.typeName, "rpc.method": method.name };
    const span = this.tracer.startSpan(operation ?? `${method.parent.typeName}/${method.name}`, {
      kind: SpanKind.CLIENT,
      attributes: operation ? { ...attributes, ...this.ofMemory(operation, request) } : attributes,
    });
    return new CallSpan(span, operation, request);
  }

  private ofMemory(operation: string, request: Message | undefined): Attributes {
    const whole = (request ?? {}) as unknown as Fields;
    const asked = (whole["recall"] ?? whole) as Fields; // RecallStream wraps what Recall is asked
    const users = new Set(((asked["items"] as Fields[] | undefined) ?? [asked]).map((item) => item["userId"]));
    const found: Fields = {
      "gen_ai.memory.store.id": users.size === 1 ? [...users][0] : "",
      "gen_ai.memory.record.id": asked["factId"] || asked["noteId"],
      "gen_ai.conversation.id": asked["conversationId"],
      "gen_ai.memory.query.text": this.capturesContent ? asked["query"] : "",
    };
    const given = Object.entries(found).filter(([, value]) => value) as [string, string][];
    return { "gen_ai.operation.name": operation, "gen_ai.provider.name": "mneme", ...Object.fromEntries(given) };
  }
}

/** The span of a call under way. */
export class CallSpan {
  /** Headers that carry the trace to the service. */
  readonly carrier: Record<string, string> = {};
  private count = 0;

  constructor(
    private readonly span: Span,
    private readonly operation: string | undefined,
    private readonly request: Message | undefined,
  ) {
    propagation.inject(trace.setSpan(context.active(), span), this.carrier);
  }

  /** Counts the memories of a response; those of a stream come one after the other. */
  responded(response: Message): void {
    if (this.operation === undefined || !this.span.isRecording()) return;
    const request = (this.request ?? {}) as unknown as Fields;
    const deleted = request["factId"] || request["noteId"] ? 1 : 0;
    this.count += this.operation === "delete_memory" ? deleted : records(response as unknown as Fields);
    this.span.setAttribute("gen_ai.memory.record.count", this.count);
  }

  /** Ends the span; a second time it has no effect. */
  end(error?: MnemeError): void {
    if (!this.span.isRecording()) return;
    this.span.setAttribute("rpc.grpc.status_code", error?.code ?? 0);
    if (error) {
      this.span.setAttribute("error.type", error.codeName);
      this.span.recordException(error);
      this.span.setStatus({ code: SpanStatusCode.ERROR, message: error.message });
    }
    this.span.end();
  }
}

const LISTS = ["interactions", "memories", "reasons", "facts", "notes", "hits"];

/** Counts the memories that a response names. */
function records(response: Fields): number {
  // Of a batch and of streams: `outcome` or `message` holds the response, an error, or a part without a count.
  const choice = (response["outcome"] ?? response["message"]) as { case?: string; value?: Fields } | undefined;
  if (choice) return choice.case === "response" ? records(choice.value ?? {}) : 0;
  const lengths = LISTS.map((name) => (response[name] as unknown[] | undefined)?.length ?? 0);
  const results = ((response["results"] as Fields[] | undefined) ?? []).map(records);
  const single = response["fact"] || response["note"] ? 1 : 0;
  return [...lengths, ...results, single].reduce((sum, count) => sum + count, 0);
}
