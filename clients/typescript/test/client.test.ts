import assert from "node:assert/strict";
import { test } from "node:test";

import { create, toBinary } from "@bufbuild/protobuf";
import { StringValueSchema } from "@bufbuild/protobuf/wkt";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { Code, ConnectError, createRouterTransport } from "@connectrpc/connect";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";

import { ConversationService } from "../gen/mneme/gateway/v1/conversations_pb.js";
import { MemoryService } from "../gen/mneme/gateway/v1/memory_pb.js";
import { type ClientOptions, MnemeClient } from "../src/client.js";
import { MnemeError } from "../src/errors.js";
import { pages } from "../src/index.js";

/** A service that fails its first calls with UNAVAILABLE. */
function serve(failures: number, options: ClientOptions = {}) {
  const seen = { attempts: 0, requestIds: [] as string[], authorization: "" };
  const unavailable = () => {
    seen.attempts += 1;
    if (seen.attempts <= failures) throw new ConnectError("restarting", Code.Unavailable);
  };
  const transport = createRouterTransport(({ service }) => {
    service(MemoryService, {
      remember(request, context) {
        seen.requestIds.push(request.requestId);
        seen.authorization = context.requestHeader.get("authorization") ?? "";
        unavailable();
        return { interactions: [{}, {}] };
      },
      rememberBatch(request) {
        seen.requestIds.push(...request.items.map((item) => item.requestId));
        return {};
      },
      recall: () => {
        throw rateLimited();
      },
      async *recallStream() {
        unavailable();
        yield {};
        yield {};
      },
    });
    service(ConversationService, {
      listConversations: ({ pageToken }) => ({
        conversations: [{ conversationId: `after ${pageToken}` }],
        nextPageToken: { "": "b", b: "c" }[pageToken] ?? "",
      }),
    });
  });
  const connection = { transport, system: "grpc", address: new URL("http://memory:7700") };
  const retry = { attemptsMax: 4, initialBackoffMs: 1, backoffMaxMs: 1 };
  return { client: new MnemeClient(connection, { retry, ...options }), seen };
}

/** A message of google.rpc as bytes: texts by their field's number. */
function written(...fields: [number, string | Uint8Array][]): Uint8Array<ArrayBuffer> {
  const writer = new BinaryWriter();
  for (const [number, value] of fields) {
    writer.tag(number, 2);
    if (typeof value === "string") writer.string(value);
    else writer.bytes(value);
  }
  return writer.finish();
}

function rateLimited(): ConnectError {
  const error = new ConnectError("slow down", Code.ResourceExhausted);
  const delay = new BinaryWriter().tag(1, 0).int64(1).tag(2, 0).int32(500_000_000).finish();
  const details: [string, Uint8Array<ArrayBuffer>][] = [
    ["google.rpc.ErrorInfo", written([1, "RATE_LIMITED"], [2, "mneme"], [3, written([1, "limit"], [2, "5"])])],
    ["google.rpc.BadRequest", written([1, written([1, "query"], [2, "is long"])])],
    ["google.rpc.RetryInfo", written([1, delay])],
    ["google.protobuf.StringValue", toBinary(StringValueSchema, create(StringValueSchema, { value: "of a newer service" }))],
  ];
  error.details.push(...details.map(([type, value]) => ({ type, value })));
  return error;
}

test("repeats with the same request id", async () => {
  const { client, seen } = serve(2, { apiKey: "key" });
  await client.memory.remember({ userId: "ada" });
  assert.equal(seen.requestIds.length, 3);
  assert.notEqual(seen.requestIds[0], "");
  assert.equal(new Set(seen.requestIds).size, 1);
  assert.equal(seen.authorization, "Bearer key");
});

test("gives up after the last attempt", async () => {
  const { client, seen } = serve(100);
  await assert.rejects(client.memory.remember({}), (error) => error instanceof MnemeError && error.codeName === "UNAVAILABLE");
  assert.equal(seen.attempts, 4);
});

test("does not repeat what the caller cancelled", async () => {
  const { client, seen } = serve(100);
  await assert.rejects(client.memory.remember({}, { signal: AbortSignal.abort() }), MnemeError);
  assert.ok(seen.attempts <= 1);
});

test("items of a batch have request ids", async () => {
  const { client, seen } = serve(0);
  await client.memory.rememberBatch({ items: [{}, { requestId: "mine" }] });
  assert.notEqual(seen.requestIds[0], "");
  assert.equal(seen.requestIds[1], "mine");
});

test("errors have the service's facts", async () => {
  const { client } = serve(0, { retry: { attemptsMax: 1 } });
  await assert.rejects(client.memory.recall({}), (error) => {
    assert.ok(error instanceof MnemeError);
    assert.equal(error.reason, "RATE_LIMITED");
    assert.equal(error.codeName, "RESOURCE_EXHAUSTED");
    assert.equal(error.message, "RESOURCE_EXHAUSTED/RATE_LIMITED: slow down (query: is long)");
    assert.deepEqual(error.metadata, { limit: "5" });
    assert.deepEqual(error.violations, [{ fieldPath: "query", description: "is long" }]);
    assert.equal(error.retryAfterMs, 1500);
    assert.equal(error.method, "mneme.gateway.v1.MemoryService/Recall");
    assert.ok(error.retryable);
    return true;
  });
});

test("a stream is repeated before its first response", async () => {
  const { client, seen } = serve(2);
  let messages = 0;
  for await (const _ of client.memory.recallStream({})) messages += 1;
  assert.equal(messages, 2);
  assert.equal(seen.attempts, 3);
});

test("pages are fetched as they are needed", async () => {
  const { client } = serve(0);
  const found: string[] = [];
  for await (const conversation of pages(client.conversations.listConversations, {}, (page) => page.conversations)) {
    found.push(conversation.conversationId);
  }
  assert.deepEqual(found, ["after ", "after b", "after c"]);
});

test("spans follow the conventions for memory", async () => {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const { client } = serve(0, { tracer: provider.getTracer("test"), capturesContent: true });
  await client.memory.remember({ userId: "ada", conversationId: "monday" });
  await client.memory.recall({ userId: "ada", query: "Where?" }).catch(() => undefined);
  const [written, found] = exporter.getFinishedSpans();
  assert.equal(written?.name, "upsert_memory");
  assert.equal(written?.attributes["gen_ai.memory.store.id"], "ada");
  assert.equal(written?.attributes["gen_ai.conversation.id"], "monday");
  assert.equal(written?.attributes["gen_ai.memory.record.count"], 2);
  assert.equal(written?.attributes["rpc.grpc.status_code"], 0);
  assert.equal(found?.name, "search_memory");
  assert.equal(found?.attributes["gen_ai.memory.query.text"], "Where?");
  assert.equal(found?.attributes["error.type"], "RESOURCE_EXHAUSTED");
});
