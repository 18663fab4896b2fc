package ai.mneme.client;

import ai.mneme.gateway.v1.BuildContextRequest;
import ai.mneme.gateway.v1.BuildContextResponse;
import ai.mneme.gateway.v1.FeedbackRequest;
import ai.mneme.gateway.v1.FeedbackResponse;
import ai.mneme.gateway.v1.ListJudgedRecallsRequest;
import ai.mneme.gateway.v1.ListJudgedRecallsResponse;
import ai.mneme.gateway.v1.MemoryServiceGrpc;
import ai.mneme.gateway.v1.PrepareContextRequest;
import ai.mneme.gateway.v1.PrepareContextResponse;
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
import com.google.protobuf.Message;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ChannelCredentials;
import io.grpc.ClientInterceptors;
import io.grpc.Context;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.OpenTelemetry;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Calls Mneme's gateway. Every call has a deadline, every write a request id; a call that fails with UNAVAILABLE, or that a
 * closing server cancels, is repeated with it, unless it has a stream of requests. Failures are {@link MnemeException}.
 *
 * <p>The calls on memories are methods. Any other one is made by its descriptor in the generated code:
 * {@code client.call(FactServiceGrpc.getCreateFactMethod(), request)}. Safe for use by several threads.
 */
public final class MnemeClient implements AutoCloseable {
  /** Where `mneme up` serves. */
  public static final String DEFAULT_TARGET = "127.0.0.1:7700";

  private static final int MESSAGE_BYTES_MAX = 64 << 20; // responses have at most 3 MiB, unless an installation allows more
  private static final Duration STREAM_TIMEOUT = Duration.ofSeconds(300); // of RememberStream, which takes as long as its source
  private static final Duration FILE_TIMEOUT = Duration.ofHours(1); // of other streams of requests
  private static final Duration VISIBILITY_CALL_TIMEOUT = Duration.ofSeconds(5); // the service waits this long

  private final ManagedChannel managed;
  private final Channel channel;
  private final Duration timeout;
  private final RetryPolicy retry;
  private final CallSpan.Tracing tracing;

  private MnemeClient(Builder builder) {
    managed = builder.channel != null ? builder.channel : builder.open();
    channel =
        builder.credential == null
            ? managed
            : ClientInterceptors.intercept(managed, new CredentialInterceptor(builder.credential));
    timeout = builder.timeout;
    retry = builder.retry;
    int colon = builder.target.lastIndexOf(':');
    boolean hasPort = colon >= 0 && builder.target.substring(colon + 1).matches("\\d+");
    tracing =
        new CallSpan.Tracing(
            builder.telemetry == null ? GlobalOpenTelemetry.get() : builder.telemetry,
            hasPort ? builder.target.substring(builder.target.lastIndexOf('/') + 1, colon) : builder.target,
            hasPort ? Integer.parseInt(builder.target.substring(colon + 1)) : 0,
            builder.capturesContent);
  }

  /** A client of the gateway at an address such as "127.0.0.1:7700"; the first call opens the connection. */
  public static MnemeClient connect(String target) {
    return builder(target).build();
  }

  /** Settings of a client, and {@link Builder#build}. */
  public static Builder builder(String target) {
    return new Builder(target);
  }

  public RememberResponse remember(RememberRequest request) {
    return call(MemoryServiceGrpc.getRememberMethod(), request);
  }

  public RememberBatchResponse rememberBatch(RememberBatchRequest request) {
    return call(MemoryServiceGrpc.getRememberBatchMethod(), request);
  }

  /** Stores any number of items, one message each; the responses say what became of each. */
  public ResponseStream<RememberStreamResponse> rememberStream(Iterable<RememberStreamRequest> items) {
    return streamRequests(MemoryServiceGrpc.getRememberStreamMethod(), items);
  }

  public RecallResponse recall(RecallRequest request) {
    return call(MemoryServiceGrpc.getRecallMethod(), request);
  }

  /** Results of each tier as it responds, and at last the whole response. */
  public ResponseStream<RecallStreamResponse> recallStream(RecallRequest request) {
    var wrapped = RecallStreamRequest.newBuilder().setRecall(request).build();
    return stream(MemoryServiceGrpc.getRecallStreamMethod(), wrapped, timeout);
  }

  public BuildContextResponse buildContext(BuildContextRequest request) {
    return call(MemoryServiceGrpc.getBuildContextMethod(), request);
  }

  public PrepareContextResponse prepareContext(PrepareContextRequest request) {
    return call(MemoryServiceGrpc.getPrepareContextMethod(), request);
  }

  public FeedbackResponse feedback(FeedbackRequest request) {
    return call(MemoryServiceGrpc.getFeedbackMethod(), request);
  }

  public ListJudgedRecallsResponse listJudgedRecalls(ListJudgedRecallsRequest request) {
    return call(MemoryServiceGrpc.getListJudgedRecallsMethod(), request);
  }

  /** Makes a call with the client's deadline. */
  public <Q, R> R call(MethodDescriptor<Q, R> method, Q request) {
    return call(method, request, timeout);
  }

  /**
   * Makes a call.
   *
   * @param within its deadline, repeats included
   * @throws MnemeException it failed, repeats included
   */
  public <Q, R> R call(MethodDescriptor<Q, R> method, Q request, Duration within) {
    long deadline = System.nanoTime() + within.toNanos();
    Q filled = RequestIds.fill(request);
    CallSpan span = new CallSpan(tracing, method, filled);
    Channel traced = traced(span);
    for (int attempt = 1; ; attempt++) {
      try {
        R response = ClientCalls.blockingUnaryCall(traced, method, until(deadline), filled);
        span.responded(response);
        span.end(null);
        return response;
      } catch (StatusRuntimeException failure) {
        MnemeException error = MnemeException.of(failure, method.getFullMethodName());
        if (!waitBeforeNext(error, attempt, deadline)) {
          span.end(error);
          throw error;
        }
      }
    }
  }

  /** Makes a call with a stream as response; it is repeated if it fails before the first message. Close the stream. */
  public <Q, R> ResponseStream<R> stream(MethodDescriptor<Q, R> method, Q request, Duration within) {
    long deadline = System.nanoTime() + within.toNanos();
    Q filled = RequestIds.fill(request);
    CallSpan span = new CallSpan(tracing, method, filled);
    Channel traced = traced(span);
    return new ResponseStream<>(
        () -> ClientCalls.blockingServerStreamingCall(traced, method, until(deadline), filled),
        (error, attempt) -> waitBeforeNext(error, attempt, deadline),
        method,
        span);
  }

  /** Makes a call with a stream of requests and a deadline of an hour, or of 300 s for RememberStream. */
  public <Q, R> ResponseStream<R> streamRequests(MethodDescriptor<Q, R> method, Iterable<Q> requests) {
    boolean hasManyResponses = method.getType() == MethodDescriptor.MethodType.BIDI_STREAMING;
    return streamRequests(method, requests, hasManyResponses ? STREAM_TIMEOUT : FILE_TIMEOUT);
  }

  /**
   * Makes a call with a stream of requests, such as RememberStream, or ImportUser, which has one response: {@code next()}.
   *
   * <p>The call begins when the first response is asked for. The requests are iterated over in a thread of its own, as fast as
   * the service takes them, so their source may wait for responses. The call is not repeated: repeat it with the same request
   * ids. Close the stream, unless its method has one response: the call has ended when that is read.
   *
   * @param within its deadline
   */
  public <Q, R> ResponseStream<R> streamRequests(MethodDescriptor<Q, R> method, Iterable<Q> requests, Duration within) {
    long deadline = System.nanoTime() + within.toNanos();
    CallSpan span = new CallSpan(tracing, method, null);
    Channel traced = traced(span);
    return new ResponseStream<>(
        () -> StreamingCall.start(traced, method, until(deadline), requests),
        (error, attempt) -> false,
        method,
        span);
  }

  /**
   * The items of a list; the call for the next page is made when it is needed.
   *
   * <pre>{@code for (Fact fact : client.pages(FactServiceGrpc.getListFactsMethod(), request, ListFactsResponse::getFactsList))}</pre>
   */
  public <Q extends Message, R extends Message, T> Iterable<T> pages(
      MethodDescriptor<Q, R> method, Q request, Function<R, List<T>> items) {
    return () -> new Pages<>(method, request, items);
  }

  /**
   * Returns when the writes of a consistency token can be found.
   *
   * @throws TimeoutException they cannot be found within the time; its cause is what the last call failed with
   * @throws MnemeException the service refused
   */
  public void waitUntilVisible(String userId, String token, Duration within) throws TimeoutException {
    // Any query will do: only `consistent` of the response is read.
    var request = RecallRequest.newBuilder().setUserId(userId).setQuery("hello").setLimit(1).setConsistencyToken(token).build();
    long deadline = System.nanoTime() + within.toNanos();
    MnemeException last = null;
    for (long left = within.toNanos(); left > 0; left = deadline - System.nanoTime()) {
      Duration callTimeout = Duration.ofNanos(Math.min(left, VISIBILITY_CALL_TIMEOUT.toNanos()));
      try {
        if (call(MemoryServiceGrpc.getRecallMethod(), request, callTimeout).getConsistent()) {
          return;
        }
      } catch (MnemeException error) {
        if (!error.isRetryable() || mustEnd()) {
          throw error;
        }
        last = error;
      }
      if (!RetryPolicy.sleep(retry.initialBackoff().toNanos())) {
        break;
      }
    }
    var late = new TimeoutException("not visible after " + within);
    late.initCause(last);
    throw late;
  }

  /** For generated stubs, such as asynchronous ones. It carries the credential, and adds nothing else. */
  public Channel channel() {
    return channel;
  }

  /** Closes the connection; calls under way, and later ones, fail. */
  @Override
  public void close() {
    managed.shutdownNow();
  }

  private boolean waitBeforeNext(MnemeException error, int attempt, long deadlineNanos) {
    if (mustEnd() || !retry.waitBeforeNext(error, attempt, deadlineNanos - System.nanoTime())) {
      return false;
    }
    managed.resetConnectBackoff(); // else a server that was away is tried again after up to two minutes
    return true;
  }

  /** Whether no repeat can succeed: the client is closed, or its caller has given up. */
  private boolean mustEnd() {
    return managed.isShutdown() || Context.current().isCancelled() || Thread.currentThread().isInterrupted();
  }

  private static CallOptions until(long deadlineNanos) {
    return CallOptions.DEFAULT.withDeadlineAfter(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
  }

  private Channel traced(CallSpan span) {
    return ClientInterceptors.intercept(channel, MetadataUtils.newAttachHeadersInterceptor(span.headers()));
  }

  private final class Pages<Q extends Message, R extends Message, T> implements Iterator<T> {
    private final MethodDescriptor<Q, R> method;
    private final Function<R, List<T>> items;
    private final Queue<T> page = new ArrayDeque<>();
    private Q next; // null after the last page

    Pages(MethodDescriptor<Q, R> method, Q first, Function<R, List<T>> items) {
      this.method = method;
      this.items = items;
      this.next = first;
    }

    @Override
    @SuppressWarnings("unchecked")
    public boolean hasNext() {
      while (page.isEmpty() && next != null) {
        R response = call(method, next);
        page.addAll(items.apply(response));
        String token = (String) response.getField(response.getDescriptorForType().findFieldByName("next_page_token"));
        var field = next.getDescriptorForType().findFieldByName("page_token");
        next = token.isEmpty() ? null : (Q) next.toBuilder().setField(field, token).build();
      }
      return !page.isEmpty();
    }

    @Override
    public T next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      return page.remove();
    }
  }

  /** Settings of a client. */
  public static final class Builder {
    private final String target;
    private Supplier<String> credential;
    private ChannelCredentials credentials = InsecureChannelCredentials.create();
    private Duration timeout = Duration.ofSeconds(10);
    private RetryPolicy retry = RetryPolicy.DEFAULT;
    private OpenTelemetry telemetry;
    private boolean capturesContent =
        "true".equalsIgnoreCase(System.getenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"));
    private ManagedChannel channel;

    private Builder(String target) {
      this.target = target;
    }

    /** Credential; none where the service runs in development mode. */
    public Builder apiKey(String key) {
      return tokenSource(() -> key);
    }

    /**
     * What the credential of each call is asked for, such as a token of an identity provider that is renewed before it expires.
     * It is called by several threads. Where it throws, the call fails with UNAUTHENTICATED.
     */
    public Builder tokenSource(Supplier<String> source) {
      credential = source;
      return this;
    }

    /**
     * Encrypts the connection: {@code TlsChannelCredentials.create()} trusts the known certificate authorities, and
     * {@code TlsChannelCredentials.newBuilder().keyManager(certificate, key).build()} shows a certificate of the client.
     */
    public Builder credentials(ChannelCredentials chosen) {
      credentials = chosen;
      return this;
    }

    /** Deadline of a call, repeats included, where the call has none of its own. 10 s by default. */
    public Builder timeout(Duration chosen) {
      timeout = chosen;
      return this;
    }

    /** When and how often a failed call is repeated. */
    public Builder retry(RetryPolicy policy) {
      retry = policy;
      return this;
    }

    /** Makes the spans of calls; by default OpenTelemetry's global instance. */
    public Builder telemetry(OpenTelemetry chosen) {
      telemetry = chosen;
      return this;
    }

    /**
     * Whether spans hold the text of queries. By default they do only where the environment variable
     * OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT is "true".
     */
    public Builder capturesContent(boolean captured) {
      capturesContent = captured;
      return this;
    }

    /** A channel of your own instead of one to the target; the client closes it. */
    public Builder channel(ManagedChannel own) {
      channel = own;
      return this;
    }

    /** The client. */
    public MnemeClient build() {
      return new MnemeClient(this);
    }

    private ManagedChannel open() {
      return Grpc.newChannelBuilder(target, credentials)
          .maxInboundMessageSize(MESSAGE_BYTES_MAX)
          .disableRetry() // repeats are the client's, which knows the delay that the service asks for
          .defaultLoadBalancingPolicy("round_robin") // with one address it changes nothing
          // A connection whose other end vanished without a word is given up after 70 s, not after a quarter of an hour.
          .keepAliveTime(60, TimeUnit.SECONDS)
          .keepAliveTimeout(10, TimeUnit.SECONDS)
          .build();
    }
  }
}
