// The calls of clients/scenario.json for a user, and their transcript: by scenario.ts in Node, by scenario_page.ts in browsers.

import { type DescMessage, type JsonValue, type MessageShape, fromJson } from "@bufbuild/protobuf";
import { type MnemeClient, MnemeError, itemError, pages } from "@mneme-ai/client";
import { CreateNoteRequestSchema, SearchNotesRequestSchema } from "@mneme-ai/client/gen/mneme/agentic/v1/notes_pb.js";
import { MessageRole } from "@mneme-ai/client/gen/mneme/common/v1/common_pb.js";
import { BuildContextRequestSchema } from "@mneme-ai/client/gen/mneme/gateway/v1/context_pb.js";
import { ListConversationsRequestSchema, ListInteractionsRequestSchema } from "@mneme-ai/client/gen/mneme/gateway/v1/conversations_pb.js";
import { FeedbackRequestSchema, RememberBatchRequestSchema, RememberRequestSchema } from "@mneme-ai/client/gen/mneme/gateway/v1/memory_pb.js";
import type { RememberResponse } from "@mneme-ai/client/gen/mneme/gateway/v1/memory_pb.js";
import { RecallRequestSchema, type RecallResponse } from "@mneme-ai/client/gen/mneme/gateway/v1/recall_pb.js";
import { Tier } from "@mneme-ai/client/gen/mneme/gateway/v1/tiers_pb.js";
import {
  CreateFactRequestSchema,
  DeleteFactRequestSchema,
  type Fact,
  GetFactRequestSchema,
  ListFactsRequestSchema,
  UpdateFactRequestSchema,
} from "@mneme-ai/client/gen/mneme/semantic/v1/facts_pb.js";

/** One call of the file. */
export interface Step {
  call: string;
  with?: JsonValue;
  timeoutSeconds?: number;
  contains?: string;
}

function line(fact: Fact | undefined): string {
  return `${fact?.text} (${fact?.subject} ${fact?.predicate} ${fact?.object})`;
}

/** Leaves out the reason of a deadline: whether the service or the client notices it first is chance. */
function describe(error: MnemeError): string {
  if (error.codeName === "DEADLINE_EXCEEDED") return `error ${error.codeName}`;
  return ["error", error.codeName, error.reason, ...error.violations.map((violation) => violation.fieldPath)].join(" ");
}

async function collect<Item>(items: AsyncIterable<Item>, describeItem: (item: Item) => string): Promise<string[]> {
  const lines: string[] = [];
  for await (const item of items) lines.push(describeItem(item));
  return lines;
}

/** Makes the calls of a file one after the other. */
export class Scenario {
  /** Of earlier responses, by the name that stands for them in the file. */
  private readonly values: Map<string, string>;

  constructor(
    private readonly client: MnemeClient,
    private readonly user: string,
  ) {
    this.values = new Map([["$user", user]]);
  }

  /** The lines of the transcript. */
  async *run(steps: Step[]): AsyncGenerator<string> {
    for (const step of steps) {
      const lines = await this.call(step).catch((error: unknown) => {
        if (error instanceof MnemeError) return [describe(error)];
        throw error;
      });
      for (const text of lines) yield `${step.call}: ${text}`;
    }
  }

  private async call(step: Step): Promise<string[]> {
    const options = { timeoutMs: (step.timeoutSeconds ?? 30) * 1000 };
    const filled = <Schema extends DescMessage>(schema: Schema): MessageShape<Schema> => {
      let text = JSON.stringify(step.with);
      for (const [name, value] of this.values) text = text.replaceAll(name, value);
      return fromJson(schema, JSON.parse(text) as JsonValue);
    };
    switch (step.call) {
      case "remember":
        return [this.remembered(await this.client.memory.remember(filled(RememberRequestSchema), options))];
      case "rememberBatch": {
        const response = await this.client.memory.rememberBatch(filled(RememberBatchRequestSchema), options);
        return response.results.map(({ outcome }) => {
          if (outcome.case === "response") return this.remembered(outcome.value);
          return outcome.case === "error" ? describe(itemError(outcome.value)) : "nothing";
        });
      }
      case "waitUntilVisible":
        await this.client.waitUntilVisible(this.user, this.values.get("$token") ?? "", options);
        return ["visible"];
      case "recall":
        return this.recalled(await this.client.memory.recall(filled(RecallRequestSchema), options));
      case "recallStream": {
        const tiers: string[] = [];
        let whole: string[] = [];
        for await (const { message } of this.client.memory.recallStream({ recall: filled(RecallRequestSchema) }, options)) {
          if (message.case === "tierResult") tiers.push(Tier[message.value.tier?.tier ?? 0] ?? "");
          else if (message.case === "response") whole = this.recalled(message.value);
        }
        return [tiers.sort().join(" "), ...whole];
      }
      case "buildContext": {
        const request = filled(BuildContextRequestSchema);
        const { text, tokenCount } = await this.client.memory.buildContext(request, options);
        const isWithin = tokenCount > 0 && tokenCount <= request.tokenBudget;
        return [`within budget ${isWithin}, contains ${step.contains} ${text.includes(step.contains ?? "")}`];
      }
      case "listInteractions": {
        const found = pages(this.client.conversations.listInteractions, filled(ListInteractionsRequestSchema), (page) => page.interactions, options);
        return collect(found, ({ position, turn }) => `${position} ${MessageRole[turn?.role ?? 0]} ${turn?.content}`);
      }
      case "listConversations": {
        const found = pages(this.client.conversations.listConversations, filled(ListConversationsRequestSchema), (page) => page.conversations, options);
        return collect(found, ({ conversationId, interactionCount }) => `${conversationId} ${interactionCount}`);
      }
      case "createFact": {
        const { fact } = await this.client.facts.createFact(filled(CreateFactRequestSchema), options);
        this.values.set("$factId", fact?.factId ?? "").set("$etag", fact?.etag ?? "");
        return [line(fact)];
      }
      case "updateFact":
        return [line((await this.client.facts.updateFact(filled(UpdateFactRequestSchema), options)).fact)];
      case "getFact":
        return [line((await this.client.facts.getFact(filled(GetFactRequestSchema), options)).fact)];
      case "listFacts":
        return collect(pages(this.client.facts.listFacts, filled(ListFactsRequestSchema), (page) => page.facts, options), line);
      case "deleteFact":
        await this.client.facts.deleteFact(filled(DeleteFactRequestSchema), options);
        return ["done"];
      case "createNote": {
        const { note } = await this.client.notes.createNote(filled(CreateNoteRequestSchema), options);
        return [`${note?.content} ${note?.tags.join(" ")}`];
      }
      case "searchNotes": {
        const { hits } = await this.client.notes.searchNotes(filled(SearchNotesRequestSchema), options);
        return hits.map((hit) => hit.note?.content ?? "");
      }
      case "feedback":
        return [`${(await this.client.memory.feedback(filled(FeedbackRequestSchema), options)).memoryCount} memories`];
    }
    throw new Error(`unknown call ${step.call}`);
  }

  private remembered(response: RememberResponse): string {
    if (response.consistencyToken) this.values.set("$token", response.consistencyToken);
    return `${response.interactions.length} turns, replayed ${response.replayed}`;
  }

  private recalled(response: RecallResponse): string[] {
    const lines = [`degraded ${response.degraded}`];
    for (const memory of response.memories) {
      this.values.set("$memoryId", memory.memoryId);
      lines.push(`${memory.turn?.speaker}: ${memory.turn?.content}`);
    }
    return lines;
  }
}
