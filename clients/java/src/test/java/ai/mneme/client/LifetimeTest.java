package ai.mneme.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.mneme.gateway.v1.ImportUserRequest;
import ai.mneme.gateway.v1.ImportUserResponse;
import ai.mneme.gateway.v1.MemoryServiceGrpc;
import ai.mneme.gateway.v1.PortabilityServiceGrpc;
import ai.mneme.gateway.v1.RecallRequest;
import ai.mneme.gateway.v1.RecallResponse;
import ai.mneme.gateway.v1.RememberRequest;
import ai.mneme.gateway.v1.RememberResponse;
import io.grpc.Context;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.opentelemetry.sdk.testing.junit5.OpenTelemetryExtension;
import java.io.IOException;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How calls and clients begin and end, over a real connection. */
class LifetimeTest {
  @RegisterExtension static final OpenTelemetryExtension TELEMETRY = OpenTelemetryExtension.create();

  private static final RetryPolicy ENDLESS = new RetryPolicy(6, Duration.ofHours(1), Duration.ofHours(1));

  private final List<String> credentials = new ArrayList<>();
  private int attempts;
  private long remainingMillis;
  private Server server;
  private MnemeClient client;

  @AfterEach
  void stop() {
    if (client != null) {
      client.close();
    }
    if (server != null) {
      server.shutdownNow();
    }
  }

  private void serve(int port) throws IOException {
    server =
        Grpc.newServerBuilderForPort(port, InsecureServerCredentials.create())
            .directExecutor()
            .intercept(new CredentialReader())
            .addService(new Memory())
            .addService(new Portability())
            .build()
            .start();
  }

  private MnemeClient.Builder builder() throws IOException {
    serve(0);
    return MnemeClient.builder("127.0.0.1:" + server.getPort()).telemetry(TELEMETRY.getOpenTelemetry());
  }

  @Test
  void aCallWithAStreamOfRequestsAndOneResponseEndsWithIt() throws IOException {
    client = builder().build();
    var method = PortabilityServiceGrpc.getImportUserMethod();
    client.streamRequests(method, List.of(ImportUserRequest.getDefaultInstance())).next();
    assertEquals(1, TELEMETRY.getSpans().size());
    assertTrue(remainingMillis > 3_500_000, remainingMillis + " ms");
  }

  @Test
  void callsOfAClosedClientFailAtOnce() throws IOException {
    client = builder().retry(ENDLESS).timeout(Duration.ofDays(1)).build();
    client.close();
    assertTimeout(
        Duration.ofMinutes(1),
        () -> {
          assertThrows(MnemeException.class, () -> client.remember(RememberRequest.getDefaultInstance()));
          assertThrows(MnemeException.class, () -> client.recallStream(RecallRequest.getDefaultInstance()).hasNext());
          assertThrows(MnemeException.class, () -> client.waitUntilVisible("ada", "token", Duration.ofHours(1)));
        });
  }

  @Test
  void aCallThatItsCallerCancelledIsNotRepeated() throws Exception {
    client = builder().retry(ENDLESS).timeout(Duration.ofDays(1)).build();
    try (var context = Context.current().withCancellation()) {
      context.cancel(null);
      var call = (java.util.concurrent.Callable<RememberResponse>) () -> client.remember(RememberRequest.getDefaultInstance());
      var error = assertTimeout(Duration.ofMinutes(1), () -> assertThrows(MnemeException.class, () -> context.call(call)));
      assertEquals(Status.Code.CANCELLED, error.code());
    }
  }

  @Test
  void aTokenIsAskedForWithEachCall() throws IOException {
    Iterator<String> tokens = List.of("first", "second").iterator();
    client = builder().tokenSource(tokens::next).retry(new RetryPolicy(1, Duration.ZERO, Duration.ZERO)).build();
    for (int call = 0; call < 2; call++) {
      assertThrows(MnemeException.class, () -> client.remember(RememberRequest.getDefaultInstance()));
    }
    assertEquals(List.of("Bearer first", "Bearer second"), credentials);
    var error = assertThrows(MnemeException.class, () -> client.remember(RememberRequest.getDefaultInstance()));
    assertEquals(Status.Code.UNAUTHENTICATED, error.code());
    assertInstanceOf(java.util.NoSuchElementException.class, error.getCause().getCause());
    assertThrows(MnemeException.class, () -> client.recallStream(RecallRequest.getDefaultInstance()).hasNext());
    assertEquals(2, attempts);
  }

  @Test
  void aServerThatWasAwayIsFoundAgainAtOnce() throws IOException {
    int port;
    try (var socket = new ServerSocket(0)) {
      port = socket.getLocalPort();
    }
    var quick = new RetryPolicy(6, Duration.ofMillis(50), Duration.ofMillis(50));
    client = MnemeClient.builder("127.0.0.1:" + port).retry(quick).timeout(Duration.ofMinutes(1)).build();
    for (int call = 0; call < 8; call++) { // without the client, gRPC now waits for several seconds before it tries again
      assertThrows(MnemeException.class, () -> client.recall(RecallRequest.getDefaultInstance()));
    }
    serve(port);
    client.recall(RecallRequest.getDefaultInstance());
  }

  @Test
  void aWaitThatEndsSaysWhatFailed() throws IOException {
    client = builder().build();
    server.shutdownNow();
    var late = assertThrows(TimeoutException.class, () -> client.waitUntilVisible("ada", "token", Duration.ofMillis(300)));
    assertInstanceOf(MnemeException.class, late.getCause());
  }

  private final class CredentialReader implements ServerInterceptor {
    @Override
    public <Q, R> ServerCall.Listener<Q> interceptCall(ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
      String credential = headers.get(Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER));
      if (credential != null) {
        credentials.add(credential);
      }
      return next.startCall(call, headers);
    }
  }

  private final class Memory extends MemoryServiceGrpc.MemoryServiceImplBase {
    @Override
    public void remember(RememberRequest request, StreamObserver<RememberResponse> observer) {
      attempts++;
      observer.onError(Status.UNAVAILABLE.withDescription("restarting").asRuntimeException());
    }

    @Override
    public void recall(RecallRequest request, StreamObserver<RecallResponse> observer) {
      observer.onNext(RecallResponse.getDefaultInstance());
      observer.onCompleted();
    }
  }

  private final class Portability extends PortabilityServiceGrpc.PortabilityServiceImplBase {
    @Override
    public StreamObserver<ImportUserRequest> importUser(StreamObserver<ImportUserResponse> observer) {
      remainingMillis = Context.current().getDeadline().timeRemaining(TimeUnit.MILLISECONDS);
      return new StreamObserver<>() {
        @Override
        public void onNext(ImportUserRequest request) {}

        @Override
        public void onError(Throwable error) {}

        @Override
        public void onCompleted() {
          observer.onNext(ImportUserResponse.getDefaultInstance());
          observer.onCompleted();
        }
      };
    }
  }
}
