import { MessageRole } from "@mneme-ai/client/gen/mneme/common/v1/common_pb.js";
import { MnemeError, pages } from "@mneme-ai/client";
import { DEFAULT_TARGET, connect } from "@mneme-ai/client/node"; // in browsers: @mneme-ai/client/web

const client = connect(process.argv[2] ?? DEFAULT_TARGET);
const userId = "ada-typescript";

const remembered = await client.memory.remember({
  userId,
  conversationId: "monday",
  turns: [{ role: MessageRole.USER, speaker: "Ada", content: "I moved to Lisbon in March." }],
});
const recalled = await client.memory.recall({
  userId,
  query: "Where does Ada live?",
  consistencyToken: remembered.consistencyToken, // the write above is visible to this call
});
for (const memory of recalled.memories) {
  console.log(`${memory.turn?.speaker}: ${memory.turn?.content}`);
}

for await (const conversation of pages(client.conversations.listConversations, { userId }, (page) => page.conversations)) {
  console.log("conversation:", conversation.conversationId);
}

try {
  await client.memory.recall({ userId });
} catch (error) {
  if (!(error instanceof MnemeError)) throw error;
  console.log("error:", error.reason, error.violations[0]?.fieldPath);
}
client.close();
