package ai.mneme.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.mneme.gateway.v1.Conversation;
import ai.mneme.gateway.v1.ConversationServiceGrpc;
import ai.mneme.gateway.v1.InteractionReference;
import ai.mneme.gateway.v1.ListConversationsRequest;
import ai.mneme.gateway.v1.ListConversationsResponse;
import ai.mneme.gateway.v1.MemoryServiceGrpc;
import ai.mneme.gateway.v1.RecallRequest;
import ai.mneme.gateway.v1.RecallResponse;
import ai.mneme.gateway.v1.RecallStreamRequest;
import ai.mneme.gateway.v1.RecallStreamResponse;
import ai.mneme.gateway.v1.RememberBatchRequest;
import ai.mneme.gateway.v1.RememberBatchResponse;
import ai.mneme.gateway.v1.RememberRequest;
import ai.mneme.gateway.v1.RememberResponse;
import ai.mneme.gateway.v1.RememberStreamRequest;
import ai.mneme.gateway.v1.RememberStreamResponse;
import com.google.protobuf.Any;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.Context;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.StreamObserver;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.sdk.testing.junit5.OpenTelemetryExtension;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class MnemeClientTest {
  @RegisterExtension static final OpenTelemetryExtension TELEMETRY = OpenTelemetryExtension.create();

  private final List<String> requestIds = new ArrayList<>();
  private int failures;
  private int attempts;
  private long remainingMillis;
  private Server server;
  private MnemeClient client;

  @AfterEach
  void stop() {
    client.close();
    server.shutdownNow();
  }

  /** A service that fails its first calls with UNAVAILABLE. */
  private MnemeClient serve(int failing) throws IOException {
    failures = failing;
    String name = UUID.randomUUID().toString();
    server = InProcessServerBuilder.forName(name).directExecutor().addService(new Memory()).addService(new Conversations()).build().start();
    client =
        MnemeClient.builder("memory:7700")
            .channel(InProcessChannelBuilder.forName(name).build())
            .retry(new RetryPolicy(4, Duration.ofMillis(1), Duration.ofMillis(1)))
            .telemetry(TELEMETRY.getOpenTelemetry())
            .capturesContent(true)
            .build();
    return client;
  }

  @Test
  void repeatsWithTheSameRequestId() throws IOException {
    serve(2).remember(RememberRequest.newBuilder().setUserId("ada").build());
    assertEquals(3, requestIds.size());
    assertFalse(requestIds.get(0).isEmpty());
    assertEquals(1, requestIds.stream().distinct().count());
  }

  @Test
  void givesUpAfterTheLastAttempt() throws IOException {
    serve(100);
    var error = assertThrows(MnemeException.class, () -> client.remember(RememberRequest.getDefaultInstance()));
    assertEquals(Status.Code.UNAVAILABLE, error.code());
    assertEquals(4, attempts);
  }

  @Test
  void itemsOfABatchHaveRequestIds() throws IOException {
    var mine = RememberRequest.newBuilder().setRequestId("mine");
    serve(0).rememberBatch(RememberBatchRequest.newBuilder().addItems(RememberRequest.newBuilder()).addItems(mine).build());
    assertFalse(requestIds.get(0).isEmpty());
    assertEquals("mine", requestIds.get(1));
  }

  @Test
  void errorsHaveTheServicesFacts() throws IOException {
    serve(0);
    var error = assertThrows(MnemeException.class, () -> client.recall(RecallRequest.getDefaultInstance()));
    assertEquals("RATE_LIMITED", error.reason());
    assertEquals("RESOURCE_EXHAUSTED/RATE_LIMITED: slow down (query: is long)", error.getMessage());
    assertEquals(Map.of("limit", "5"), error.metadata());
    assertEquals(List.of(new MnemeException.FieldViolation("query", "is long")), error.violations());
    assertEquals(Duration.ofMillis(1500), error.retryAfter());
    assertEquals("mneme.gateway.v1.MemoryService/Recall", error.method());
    assertTrue(error.isRetryable());
  }

  @Test
  void aStreamIsRepeatedBeforeItsFirstResponse() throws IOException {
    int messages = 0;
    try (var parts = serve(2).recallStream(RecallRequest.getDefaultInstance())) {
      for (; parts.hasNext(); parts.next()) {
        messages++;
      }
    }
    assertEquals(1, messages);
    assertEquals(3, attempts);
  }

  private static RememberStreamRequest item(String requestId) {
    return RememberStreamRequest.newBuilder().setItem(RememberRequest.newBuilder().setRequestId(requestId)).build();
  }

  @Test
  void aStreamOfRequestsHasRequestIdsADeadlineAndASpan() throws IOException {
    List<Integer> indexes = new ArrayList<>();
    try (var outcomes = serve(0).rememberStream(List.of(item(""), item("mine")))) {
      outcomes.forEachRemaining(outcome -> indexes.add(outcome.getIndex()));
    }
    assertEquals(List.of(0, 1), indexes);
    assertFalse(requestIds.get(0).isEmpty());
    assertEquals("mine", requestIds.get(1));
    assertTrue(remainingMillis > 290_000 && remainingMillis <= 300_000, remainingMillis + " ms");
    var span = TELEMETRY.getSpans().get(0);
    assertEquals("upsert_memory", span.getName());
    assertEquals(2L, span.getAttributes().get(AttributeKey.longKey("gen_ai.memory.record.count")));
    assertEquals(0L, span.getAttributes().get(AttributeKey.longKey("rpc.grpc.status_code")));
  }

  @Test
  void aStreamOfRequestsFailsWithAnErrorAndIsNotRepeated() throws IOException {
    try (var outcomes = serve(1).rememberStream(List.of(item("")))) {
      var error = assertThrows(MnemeException.class, outcomes::hasNext);
      assertEquals(Status.Code.UNAVAILABLE, error.code());
      assertEquals("mneme.gateway.v1.MemoryService/RememberStream", error.method());
    }
    assertEquals(1, attempts);
    assertEquals("UNAVAILABLE", TELEMETRY.getSpans().get(0).getAttributes().get(AttributeKey.stringKey("error.type")));
  }

  @Test
  void requestsMayWaitForResponses() throws Exception {
    var queue = new LinkedBlockingQueue<RememberStreamRequest>(List.of(item("first")));
    Iterable<RememberStreamRequest> waiting =
        () ->
            new java.util.Iterator<>() {
              @Override
              public boolean hasNext() {
                return true;
              }

              @Override
              public RememberStreamRequest next() {
                try {
                  return queue.take();
                } catch (InterruptedException interrupted) {
                  throw new IllegalStateException(interrupted);
                }
              }
            };
    var method = MemoryServiceGrpc.getRememberStreamMethod();
    try (var outcomes = serve(0).streamRequests(method, waiting, Duration.ofSeconds(30))) {
      assertEquals(0, outcomes.next().getIndex());
      queue.add(item("second"));
      assertEquals(1, outcomes.next().getIndex());
    }
  }

  @Test
  void requestsThatCannotBeReadEndTheCall() throws IOException {
    Iterable<RememberStreamRequest> broken =
        () -> {
          throw new IllegalStateException("no file");
        };
    try (var outcomes = serve(0).rememberStream(broken)) {
      var error = assertThrows(MnemeException.class, outcomes::hasNext);
      assertEquals(Status.Code.UNKNOWN, error.code());
      assertEquals("no file", error.getCause().getCause().getMessage());
    }
  }

  @Test
  void pagesAreFetchedAsTheyAreNeeded() throws IOException {
    List<String> found = new ArrayList<>();
    var list = ConversationServiceGrpc.getListConversationsMethod();
    var request = ListConversationsRequest.getDefaultInstance();
    for (var conversation : serve(0).pages(list, request, ListConversationsResponse::getConversationsList)) {
      found.add(conversation.getConversationId());
    }
    assertEquals(List.of("after ", "after b", "after c"), found);
  }

  @Test
  void spansFollowTheConventionsForMemory() throws IOException {
    serve(0).remember(RememberRequest.newBuilder().setUserId("ada").setConversationId("monday").build());
    assertThrows(MnemeException.class, () -> client.recall(RecallRequest.newBuilder().setQuery("Where?").build()));
    var written = TELEMETRY.getSpans().get(0);
    assertEquals("upsert_memory", written.getName());
    assertEquals("ada", written.getAttributes().get(AttributeKey.stringKey("gen_ai.memory.store.id")));
    assertEquals("monday", written.getAttributes().get(AttributeKey.stringKey("gen_ai.conversation.id")));
    assertEquals(2L, written.getAttributes().get(AttributeKey.longKey("gen_ai.memory.record.count")));
    var searched = TELEMETRY.getSpans().get(1);
    assertEquals("search_memory", searched.getName());
    assertEquals("Where?", searched.getAttributes().get(AttributeKey.stringKey("gen_ai.memory.query.text")));
    assertEquals("RESOURCE_EXHAUSTED", searched.getAttributes().get(AttributeKey.stringKey("error.type")));
  }

  private <T> void respond(StreamObserver<T> observer, T response) {
    attempts++;
    if (attempts <= failures) {
      observer.onError(Status.UNAVAILABLE.withDescription("restarting").asRuntimeException());
    } else {
      observer.onNext(response);
      observer.onCompleted();
    }
  }

  private final class Memory extends MemoryServiceGrpc.MemoryServiceImplBase {
    @Override
    public void remember(RememberRequest request, StreamObserver<RememberResponse> observer) {
      requestIds.add(request.getRequestId());
      var reference = InteractionReference.getDefaultInstance();
      respond(observer, RememberResponse.newBuilder().addInteractions(reference).addInteractions(reference).build());
    }

    @Override
    public void rememberBatch(RememberBatchRequest request, StreamObserver<RememberBatchResponse> observer) {
      request.getItemsList().forEach(item -> requestIds.add(item.getRequestId()));
      respond(observer, RememberBatchResponse.getDefaultInstance());
    }

    @Override
    public StreamObserver<RememberStreamRequest> rememberStream(StreamObserver<RememberStreamResponse> observer) {
      remainingMillis = Context.current().getDeadline().timeRemaining(TimeUnit.MILLISECONDS);
      attempts++;
      return new StreamObserver<>() {
        private int index;

        @Override
        public void onNext(RememberStreamRequest request) {
          requestIds.add(request.getItem().getRequestId());
          if (attempts <= failures) {
            observer.onError(Status.UNAVAILABLE.withDescription("restarting").asRuntimeException());
            return;
          }
          var stored = RememberResponse.newBuilder().addInteractions(InteractionReference.getDefaultInstance());
          observer.onNext(RememberStreamResponse.newBuilder().setIndex(index++).setResponse(stored).build());
        }

        @Override
        public void onError(Throwable error) {}

        @Override
        public void onCompleted() {
          if (attempts > failures) {
            observer.onCompleted();
          }
        }
      };
    }

    @Override
    public void recall(RecallRequest request, StreamObserver<RecallResponse> observer) {
      var violation = BadRequest.FieldViolation.newBuilder().setField("query").setDescription("is long");
      var delay = com.google.protobuf.Duration.newBuilder().setSeconds(1).setNanos(500_000_000);
      observer.onError(
          StatusProto.toStatusRuntimeException(
              com.google.rpc.Status.newBuilder()
                  .setCode(Status.Code.RESOURCE_EXHAUSTED.value())
                  .setMessage("slow down")
                  .addDetails(Any.pack(ErrorInfo.newBuilder().setReason("RATE_LIMITED").putMetadata("limit", "5").build()))
                  .addDetails(Any.pack(BadRequest.newBuilder().addFieldViolations(violation).build()))
                  .addDetails(Any.pack(RetryInfo.newBuilder().setRetryDelay(delay).build()))
                  .build()));
    }

    @Override
    public void recallStream(RecallStreamRequest request, StreamObserver<RecallStreamResponse> observer) {
      respond(observer, RecallStreamResponse.getDefaultInstance());
    }
  }

  private static final class Conversations extends ConversationServiceGrpc.ConversationServiceImplBase {
    @Override
    public void listConversations(ListConversationsRequest request, StreamObserver<ListConversationsResponse> observer) {
      String token = request.getPageToken();
      var found = Conversation.newBuilder().setConversationId("after " + token);
      String next = Map.of("", "b", "b", "c").getOrDefault(token, "");
      observer.onNext(ListConversationsResponse.newBuilder().addConversations(found).setNextPageToken(next).build());
      observer.onCompleted();
    }
  }
}
