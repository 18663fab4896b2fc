package ai.mneme.examples;

import ai.mneme.common.v1.MessageRole;
import ai.mneme.common.v1.Turn;
import ai.mneme.gateway.v1.BuildContextRequest;
import ai.mneme.gateway.v1.ConversationServiceGrpc;
import ai.mneme.gateway.v1.ListInteractionsRequest;
import ai.mneme.gateway.v1.MemoryServiceGrpc;
import ai.mneme.gateway.v1.RecallRequest;
import ai.mneme.gateway.v1.RecallStreamRequest;
import ai.mneme.gateway.v1.RememberRequest;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import java.util.concurrent.TimeUnit;

/**
 * Makes the first calls of the README from Java.
 *
 * <p>Usage: FirstCalls [host:port]
 */
public final class FirstCalls {
  private static final String USER = "ada";
  private static final String CONVERSATION = "monday-java";

  private FirstCalls() {}

  public static void main(String[] arguments) throws InterruptedException {
    String target = arguments.length > 0 ? arguments[0] : "127.0.0.1:7700";
    ManagedChannel channel = Grpc.newChannelBuilder(target, InsecureChannelCredentials.create()).build();
    try {
      run(channel);
    } finally {
      channel.shutdown().awaitTermination(5, TimeUnit.SECONDS);
    }
  }

  private static void run(ManagedChannel channel) {
    var memory = MemoryServiceGrpc.newBlockingStub(channel).withDeadlineAfter(30, TimeUnit.SECONDS);

    var remembered =
        memory.remember(
            RememberRequest.newBuilder()
                .setRequestId("readme-java-1")
                .setUserId(USER)
                .setConversationId(CONVERSATION)
                .addTurns(
                    Turn.newBuilder()
                        .setRole(MessageRole.MESSAGE_ROLE_USER)
                        .setSpeaker("Ada")
                        .setContent("I moved to Lisbon in March, and I am allergic to peanuts."))
                .addTurns(
                    Turn.newBuilder()
                        .setRole(MessageRole.MESSAGE_ROLE_ASSISTANT)
                        .setContent("Noted. How do you like Lisbon?"))
                .build());
    System.out.printf("remembered %d turns%n", remembered.getInteractionsCount());

    var question =
        RecallRequest.newBuilder()
            .setUserId(USER)
            .setQuery("Where does Ada live?")
            .setLimit(3)
            // The write above is visible to this call.
            .setConsistencyToken(remembered.getConsistencyToken())
            .build();
    for (var found : memory.recall(question).getMemoriesList()) {
      System.out.printf("recalled %s: %s%n", found.getTurn().getSpeaker(), found.getTurn().getContent());
    }

    int messages = 0;
    var stream = memory.recallStream(RecallStreamRequest.newBuilder().setRecall(question).build());
    while (stream.hasNext()) {
      stream.next();
      messages++;
    }
    System.out.printf("streamed %b%n", messages > 1);

    var prompt =
        memory.buildContext(
            BuildContextRequest.newBuilder()
                .setUserId(USER)
                .setQuery("What should we cook tonight?")
                .setTokenBudget(400)
                .build());
    System.out.printf(
        "context of at most 400 tokens: %b%n", prompt.getTokenCount() > 0 && prompt.getTokenCount() <= 400);

    var transcript =
        ConversationServiceGrpc.newBlockingStub(channel)
            .withDeadlineAfter(30, TimeUnit.SECONDS)
            .listInteractions(
                ListInteractionsRequest.newBuilder().setUserId(USER).setConversationId(CONVERSATION).build());
    System.out.printf("transcript begins: %s%n", transcript.getInteractions(0).getTurn().getContent());
  }
}
