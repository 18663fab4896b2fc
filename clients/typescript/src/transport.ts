import type { DescMessage, DescMethod, DescMethodStreaming, DescMethodUnary, Message, MessageInitShape } from "@bufbuild/protobuf";
import type { ContextValues, StreamResponse, Transport, UnaryResponse } from "@connectrpc/connect";

import { fromThrown } from "./errors.js";
import { withRequestIds } from "./request_ids.js";
import { type RetryPolicy, delayMs, sleep } from "./retry.js";
import type { CallSpan, Tracing } from "./spans.js";

/** Deadline of a stream of requests, which takes as long as its source needs. */
const STREAM_TIMEOUT_MS = 300_000;

export interface CallSettings {
  readonly apiKey: string | undefined;
  readonly timeoutMs: number;
  readonly retry: RetryPolicy;
  readonly tracing: Tracing;
}

interface Attempts {
  readonly method: string;
  readonly span: CallSpan;
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
  readonly isRepeatable: boolean;
}

/** A transport whose calls have a deadline, request ids, repeats, `MnemeError`s and spans. */
export class CallingTransport implements Transport {
  constructor(
    private readonly inner: Transport,
    private readonly settings: CallSettings,
  ) {}

  async unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number = this.settings.timeoutMs,
    header: HeadersInit | undefined,
    input: MessageInitShape<I>,
    contextValues?: ContextValues,
  ): Promise<UnaryResponse<I, O>> {
    const request = withRequestIds(method.input, input);
    const span = this.settings.tracing.start(method, request);
    const headers = this.headers(header, span);
    const attempts = { method: nameOf(method), span, signal, timeoutMs, isRepeatable: true };
    const response = await this.repeat(attempts, (remainingMs) =>
      this.inner.unary(method, signal, remainingMs, headers, request as MessageInitShape<I>, contextValues),
    );
    span.responded(response.message);
    span.end();
    return response;
  }

  async stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodStreaming<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    header: HeadersInit | undefined,
    input: AsyncIterable<MessageInitShape<I>>,
    contextValues?: ContextValues,
  ): Promise<StreamResponse<I, O>> {
    // Streams of requests are not repeated here: their caller repeats them with the same request ids.
    const isRepeatable = method.methodKind === "server_streaming";
    let requests = mapped(input, (message) => withRequestIds(method.input, message) as MessageInitShape<I>);
    let only: MessageInitShape<I> | undefined;
    if (isRepeatable) for await (const message of requests) only = message;
    const span = this.settings.tracing.start(method, only as Message | undefined);
    const headers = this.headers(header, span);
    const attempts = {
      method: nameOf(method),
      span,
      signal,
      timeoutMs: timeoutMs ?? (isRepeatable ? this.settings.timeoutMs : STREAM_TIMEOUT_MS),
      isRepeatable,
    };
    return await this.repeat(attempts, async (remainingMs) => {
      if (only !== undefined) requests = one(only);
      const response = await this.inner.stream(method, signal, remainingMs, headers, requests, contextValues);
      if (!isRepeatable) return { ...response, message: watched(response.message, attempts) };
      // The first message is read here, so that a stream that fails before it is repeated.
      const messages = response.message[Symbol.asyncIterator]();
      const first = await messages.next();
      return { ...response, message: watched(continued(first, messages), attempts) };
    });
  }

  private async repeat<Response>(attempts: Attempts, attempt: (remainingMs: number) => Promise<Response>): Promise<Response> {
    const deadline = Date.now() + attempts.timeoutMs;
    for (let count = 1; ; count++) {
      try {
        return await attempt(Math.max(1, deadline - Date.now()));
      } catch (thrown) {
        const error = fromThrown(thrown, attempts.method);
        const delay = delayMs(this.settings.retry, error, count, deadline - Date.now());
        if (delay === undefined || attempts.signal?.aborted || !attempts.isRepeatable) {
          attempts.span.end(error);
          throw error;
        }
        await sleep(delay, attempts.signal).catch(() => undefined); // the next attempt fails with the signal's reason
      }
    }
  }

  private headers(given: HeadersInit | undefined, span: CallSpan): Headers {
    const headers = new Headers(given);
    if (this.settings.apiKey) headers.set("authorization", `Bearer ${this.settings.apiKey}`);
    for (const [key, value] of Object.entries(span.carrier)) headers.set(key, value);
    return headers;
  }
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
async function* watched<T>(messages: AsyncIterable<T>, { method, span }: Attempts): AsyncIterable<T> {
  try {
    for await (const message of messages) {
      span.responded(message as Message);
      yield message;
    }
    span.end();
  } catch (thrown) {
    const error = fromThrown(thrown, method);
    span.end(error);
    throw error;
  }
}
