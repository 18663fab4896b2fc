// Makes the first calls of the README from TypeScript.
//
// Usage: node dist/src/first_calls.js [host:port]

import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";

import { MessageRole } from "../gen/mneme/common/v1/common_pb.js";
import { ConversationService } from "../gen/mneme/gateway/v1/conversations_pb.js";
import { MemoryService } from "../gen/mneme/gateway/v1/memory_pb.js";

const userId = "ada";
const conversationId = "monday-typescript";

async function run(target: string): Promise<void> {
  const transport = createGrpcTransport({ baseUrl: `http://${target}`, defaultTimeoutMs: 30_000 });
  const memory = createClient(MemoryService, transport);

  const remembered = await memory.remember({
    requestId: "readme-typescript-1",
    userId,
    conversationId,
    turns: [
      {
        role: MessageRole.USER,
        speaker: "Ada",
        content: "I moved to Lisbon in March, and I am allergic to peanuts.",
      },
      { role: MessageRole.ASSISTANT, content: "Noted. How do you like Lisbon?" },
    ],
  });
  console.log(`remembered ${remembered.interactions.length} turns`);

  const question = {
    userId,
    query: "Where does Ada live?",
    limit: 3,
    // The write above is visible to this call.
    consistencyToken: remembered.consistencyToken,
  };
  const recalled = await memory.recall(question);
  for (const found of recalled.memories) {
    console.log(`recalled ${found.turn?.speaker}: ${found.turn?.content}`);
  }

  let messages = 0;
  for await (const _ of memory.recallStream({ recall: question })) {
    messages += 1;
  }
  console.log(`streamed ${messages > 1}`);

  const prompt = await memory.buildContext({ userId, query: "What should we cook tonight?", tokenBudget: 400 });
  console.log(`context of at most 400 tokens: ${prompt.tokenCount > 0 && prompt.tokenCount <= 400}`);

  const conversations = createClient(ConversationService, transport);
  const transcript = await conversations.listInteractions({ userId, conversationId });
  console.log(`transcript begins: ${transcript.interactions[0]?.turn?.content}`);
}

await run(process.argv[2] ?? "127.0.0.1:7700");
