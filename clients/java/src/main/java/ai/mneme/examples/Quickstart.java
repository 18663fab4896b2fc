package ai.mneme.examples;

import ai.mneme.client.MnemeClient;
import ai.mneme.client.MnemeException;
import ai.mneme.common.v1.MessageRole;
import ai.mneme.common.v1.Turn;
import ai.mneme.gateway.v1.Conversation;
import ai.mneme.gateway.v1.ConversationServiceGrpc;
import ai.mneme.gateway.v1.ListConversationsRequest;
import ai.mneme.gateway.v1.ListConversationsResponse;
import ai.mneme.gateway.v1.Memory;
import ai.mneme.gateway.v1.RecallRequest;
import ai.mneme.gateway.v1.RecallResponse;
import ai.mneme.gateway.v1.RememberRequest;
import ai.mneme.gateway.v1.RememberResponse;

public final class Quickstart {
  public static void main(String[] arguments) {
    String target = arguments.length > 0 ? arguments[0] : MnemeClient.DEFAULT_TARGET;
    try (MnemeClient client = MnemeClient.connect(target)) {
      Turn turn =
          Turn.newBuilder()
              .setRole(MessageRole.MESSAGE_ROLE_USER)
              .setSpeaker("Ada")
              .setContent("I moved to Lisbon in March.")
              .build();
      RememberResponse remembered =
          client.remember(
              RememberRequest.newBuilder().setUserId("ada-java").setConversationId("monday").addTurns(turn).build());
      RecallResponse recalled =
          client.recall(
              RecallRequest.newBuilder()
                  .setUserId("ada-java")
                  .setQuery("Where does Ada live?")
                  .setConsistencyToken(remembered.getConsistencyToken()) // the write above is visible to this call
                  .build());
      for (Memory memory : recalled.getMemoriesList()) {
        System.out.println(memory.getTurn().getSpeaker() + ": " + memory.getTurn().getContent());
      }

      var list = ConversationServiceGrpc.getListConversationsMethod();
      var request = ListConversationsRequest.newBuilder().setUserId("ada-java").build();
      for (Conversation conversation : client.pages(list, request, ListConversationsResponse::getConversationsList)) {
        System.out.println("conversation: " + conversation.getConversationId());
      }

      try {
        client.recall(RecallRequest.newBuilder().setUserId("ada-java").build());
      } catch (MnemeException error) {
        System.out.println("error: " + error.reason() + " " + error.violations().get(0).fieldPath());
      }
    }
  }
}
