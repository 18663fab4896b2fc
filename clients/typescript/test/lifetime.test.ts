import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";

import { Code, ConnectError, createRouterTransport } from "@connectrpc/connect";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";

import { MemoryService } from "../gen/mneme/gateway/v1/memory_pb.js";
import { PortabilityService } from "../gen/mneme/gateway/v1/portability_pb.js";
import { type ClientOptions, MnemeClient } from "../src/client.js";
import { MnemeError } from "../src/errors.js";

/** A promise and what fulfils it; Node 20 has no Promise.withResolvers. */
function withResolvers() {
  let resolve = () => {};
  const promise = new Promise<void>((fulfil) => (resolve = fulfil));
  return { promise, resolve };
}

/** A service whose Recall waits until it is cancelled, and whose Remember fails with UNAVAILABLE. */
function serve(options: ClientOptions = {}) {
  const seen = { attempts: 0, authorization: [] as string[], timeoutMs: 0, entered: withResolvers() };
  const transport = createRouterTransport(({ service }) => {
    service(MemoryService, {
      remember(_, context) {
        seen.attempts += 1;
        seen.authorization.push(context.requestHeader.get("authorization") ?? "");
        throw new ConnectError("restarting", Code.Unavailable);
      },
      async recall(_, context) {
        seen.attempts += 1;
        seen.timeoutMs = context.timeoutMs() ?? 0;
        seen.entered.resolve();
        return await new Promise<never>((_, reject) => {
          context.signal.addEventListener("abort", () => reject(new ConnectError("", Code.Canceled)));
        });
      },
      async *recallStream() {
        for (;;) yield {};
      },
    });
    service(PortabilityService, {
      async *exportUser(_, context) {
        seen.timeoutMs = context.timeoutMs() ?? 0;
        yield {};
      },
    });
  });
  const connection = { transport, system: "grpc", address: new URL("http://memory:7700") };
  const retry = { attemptsMax: 4, initialBackoffMs: 1, backoffMaxMs: 1 };
  return { client: new MnemeClient(connection, { retry, ...options }), seen };
}

function traced() {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  return { exporter, tracer: provider.getTracer("test") };
}

const isClosed = (error: unknown) => error instanceof MnemeError && error.code === Code.Canceled && /client is closed/.test(error.message);

test("calls of a closed client fail, those under way too, and are not repeated", async () => {
  const { client, seen } = serve();
  const call = client.memory.recall({ userId: "ada", query: "Where?" });
  await seen.entered.promise;
  client.close();
  await assert.rejects(call, isClosed);
  await assert.rejects(client.memory.recall({ userId: "ada", query: "Where?" }), isClosed);
  await assert.rejects(client.waitUntilVisible("ada", "token"), isClosed);
  assert.equal(seen.attempts, 1);
});

test("a credential may be a function that renews it", async () => {
  const tokens = ["first", "second"];
  const apiKey = async () => tokens.shift() ?? Promise.reject(new Error("expired"));
  const { client, seen } = serve({ apiKey, retry: { attemptsMax: 1 } });
  for (let call = 0; call < 2; call++) await assert.rejects(client.memory.remember({}), { codeName: "UNAVAILABLE" });
  assert.deepEqual(seen.authorization, ["Bearer first", "Bearer second"]);
  await assert.rejects(client.memory.remember({}), { codeName: "UNAUTHENTICATED", message: "UNAUTHENTICATED: no credential: expired" });
  assert.equal(seen.attempts, 2);
});

test("the span of a stream that is left ends with its signal", async () => {
  const { exporter, tracer } = traced();
  const { client } = serve({ tracer });
  const leaving = new AbortController();
  for await (const _ of client.memory.recallStream({}, { signal: leaving.signal })) break;
  assert.equal(exporter.getFinishedSpans().length, 0);
  leaving.abort();
  assert.equal(exporter.getFinishedSpans()[0]?.attributes["error.type"], "CANCELLED");
});

test("a call has a deadline whatever its options say, and the file of a user has an hour", async () => {
  const { client, seen } = serve({ timeoutMs: 60 });
  await assert.rejects(client.memory.recall({}, { timeoutMs: 0 }), { codeName: "DEADLINE_EXCEEDED" });
  assert.ok(seen.timeoutMs > 1 && seen.timeoutMs <= 60, `${seen.timeoutMs} ms`);
  for await (const _ of client.portability.exportUser({ userId: "ada" }));
  assert.ok(seen.timeoutMs > 3_500_000, `${seen.timeoutMs} ms`);
});

test("a wait that ends says what failed", async () => {
  const { client } = serve();
  const waited = client.waitUntilVisible("ada", "token", { timeoutMs: 50 });
  await assert.rejects(waited, (error) => error instanceof Error && error.cause instanceof MnemeError);
});

test("a caller's signal is let go when its call has ended", async () => {
  const { client } = serve();
  const { signal } = new AbortController();
  await assert.rejects(client.memory.remember({}, { signal }), MnemeError);
  assert.equal(getEventListeners(signal, "abort").length, 0);
});
