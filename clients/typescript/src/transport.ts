import type { DescMessage, DescMethod, DescMethodStreaming, DescMethodUnary, Message, MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, type ContextValues, type StreamResponse, type Transport, type UnaryResponse } from "@connectrpc/connect";

import { MnemeError, fromThrown } from "./errors.js";
import { withRequestIds } from "./request_ids.js";
import { type RetryPolicy, delayMs, sleep } from "./retry.js";
import type { CallSpan, Tracing } from "./spans.js";

/** Deadlines of calls that take as long as what they read or write, where the call has none of its own. */
const STREAM_TIMEOUTS_MS: Readonly<Record<string, number>> = {
  "mneme.gateway.v1.MemoryService/RememberStream": 300_000,
  "mneme.gateway.v1.PortabilityService/ExportUser": 3_600_000,
  "mneme.gateway.v1.PortabilityService/ImportUser": 3_600_000,
  "mneme.episodic.v1.ActivityService/RecordActivityStream": 3_600_000,
};

/** An API key, a token of an identity provider, or a function that returns either for each call. */
export type Credential = string | (() => string | Promise<string>);

export interface CallSettings {
  readonly credential: Credential | undefined;
  readonly timeoutMs: number;
  readonly retry: RetryPolicy;
  readonly tracing: Tracing;
}

interface Attempts {
  readonly method: string;
  readonly span: CallSpan;
  readonly end: End;
  readonly timeoutMs: number;
  readonly isRepeatable: boolean;
}

/** A transport whose calls have a deadline, request ids, repeats, `MnemeError`s and spans. */
export class CallingTransport implements Transport {
  private readonly closing = new AbortController();

  constructor(
    private readonly inner: Transport,
    private readonly settings: CallSettings,
  ) {}

  /** Ends the calls under way, and refuses later ones. */
  close(): void {
    this.closing.abort(new ConnectError("the client is closed", Code.Canceled));
  }

  get isClosed(): boolean {
    return this.closing.signal.aborted;
  }

  async unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    header: HeadersInit | undefined,
    input: MessageInitShape<I>,
    contextValues?: ContextValues,
  ): Promise<UnaryResponse<I, O>> {
    const given = await this.withCredential(method, header);
    const request = withRequestIds(method.input, input);
    const attempts = this.start(method, request, signal, timeoutMs, true);
    const headers = traced(given, attempts.span);
    try {
      const response = await this.repeat(attempts, (remainingMs) =>
        this.inner.unary(method, attempts.end.signal, remainingMs, headers, request as MessageInitShape<I>, contextValues),
      );
      attempts.span.responded(response.message);
      attempts.span.end();
      return response;
    } finally {
      attempts.end.release();
    }
  }

  async stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodStreaming<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    header: HeadersInit | undefined,
    input: AsyncIterable<MessageInitShape<I>>,
    contextValues?: ContextValues,
  ): Promise<StreamResponse<I, O>> {
    const given = await this.withCredential(method, header);
    // Streams of requests are not repeated here: their caller repeats them with the same request ids.
    const isRepeatable = method.methodKind === "server_streaming";
    let requests = mapped(input, (message) => withRequestIds(method.input, message) as MessageInitShape<I>);
    let only: MessageInitShape<I> | undefined;
    if (isRepeatable) for await (const message of requests) only = message;
    const attempts = this.start(method, only as Message | undefined, signal, timeoutMs, isRepeatable);
    const headers = traced(given, attempts.span);
    // A reader that has left the stream asks for nothing more: the end of the call is all that comes.
    attempts.end.signal.addEventListener("abort", () => {
      attempts.span.end(fromThrown(attempts.end.reason() ?? new ConnectError("the caller left", Code.Canceled), attempts.method));
      attempts.end.release();
    });
    return await this.repeat(attempts, async (remainingMs) => {
      if (only !== undefined) requests = one(only);
      const response = await this.inner.stream(method, attempts.end.signal, remainingMs, headers, requests, contextValues);
      if (!isRepeatable) return { ...response, message: watched(response.message, attempts) };
      // The first message is read here, so that a stream that fails before it is repeated.
      const messages = response.message[Symbol.asyncIterator]();
      const first = await messages.next();
      return { ...response, message: watched(continued(first, messages), attempts) };
    });
  }

  private start(
    method: DescMethod,
    request: Message | undefined,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    isRepeatable: boolean,
  ): Attempts {
    const name = nameOf(method);
    return {
      method: name,
      span: this.settings.tracing.start(method, request),
      end: new End(signal, this.closing.signal),
      // Every call has a deadline: 0, by which Connect's clients have none, means the default.
      timeoutMs: timeoutMs && timeoutMs > 0 ? timeoutMs : (STREAM_TIMEOUTS_MS[name] ?? this.settings.timeoutMs),
      isRepeatable,
    };
  }

  private async repeat<Response>(attempts: Attempts, attempt: (remainingMs: number) => Promise<Response>): Promise<Response> {
    const deadline = Date.now() + attempts.timeoutMs;
    for (let count = 1; ; count++) {
      try {
        return await attempt(Math.max(1, deadline - Date.now()));
      } catch (thrown) {
        const error = fromThrown(attempts.end.reason() ?? thrown, attempts.method);
        const delay = delayMs(this.settings.retry, error, count, deadline - Date.now());
        if (delay === undefined || attempts.end.signal.aborted || !attempts.isRepeatable) {
          attempts.span.end(error);
          attempts.end.release();
          throw error;
        }
        await sleep(delay, attempts.end.signal).catch(() => undefined); // the next attempt fails with the signal's reason
      }
    }
  }

  /** The headers of a call with the credential as it is now. */
  private async withCredential(method: DescMethod, given: HeadersInit | undefined): Promise<Headers> {
    const { credential } = this.settings;
    const headers = new Headers(given);
    if (this.closing.signal.aborted) throw fromThrown(this.closing.signal.reason, nameOf(method));
    try {
      const key = typeof credential === "function" ? await credential() : credential;
      if (key) headers.set("authorization", `Bearer ${key}`);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new MnemeError(`no credential: ${why}`, Code.Unauthenticated, [], nameOf(method), cause);
    }
    return headers;
  }
}

/** When a call ends before its response: with the caller's signal, or with the client. */
class End {
  readonly signal: AbortSignal;
  private readonly controller = new AbortController();
  private readonly follow = (): void => this.controller.abort(this.closing.aborted ? this.closing.reason : this.caller?.reason);

  constructor(
    private readonly caller: AbortSignal | undefined,
    private readonly closing: AbortSignal,
  ) {
    this.signal = this.controller.signal;
    for (const signal of [caller, closing]) {
      if (signal?.aborted) this.follow();
      signal?.addEventListener("abort", this.follow);
    }
  }

  /** What the call fails with where the client was closed. */
  reason(): unknown {
    return this.closing.aborted ? this.closing.reason : undefined;
  }

  /** Lets go of the caller's signal, which may live longer than the call. */
  release(): void {
    for (const signal of [this.caller, this.closing]) signal?.removeEventListener("abort", this.follow);
  }
}

function traced(headers: Headers, span: CallSpan): Headers {
  for (const [key, value] of Object.entries(span.carrier)) headers.set(key, value);
  return headers;
}

export function nameOf(method: DescMethod): string {
  return `${method.parent.typeName}/${method.name}`;
}

async function* one<T>(item: T): AsyncIterable<T> {
  yield item;
}

async function* mapped<From, To>(items: AsyncIterable<From>, change: (item: From) => To): AsyncIterable<To> {
  for await (const item of items) yield change(item);
}

/** The messages of a stream whose first one was read already. */
async function* continued<T>(first: IteratorResult<T>, rest: AsyncIterator<T>): AsyncIterable<T> {
  for (let next = first; !next.done; next = await rest.next()) yield next.value;
}

/** Records what comes. A reader that leaves early ends the call by its signal: the generated clients pass on nothing else. */
async function* watched<T>(messages: AsyncIterable<T>, { method, span, end }: Attempts): AsyncIterable<T> {
  try {
    for await (const message of messages) {
      span.responded(message as Message);
      yield message;
    }
    span.end();
  } catch (thrown) {
    const error = fromThrown(end.reason() ?? thrown, method);
    span.end(error);
    throw error;
  } finally {
    end.release();
  }
}
