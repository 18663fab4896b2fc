package ai.mneme.client;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.function.Supplier;

/** Adds the credential, as it is now, to each call. */
final class CredentialInterceptor implements ClientInterceptor {
  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  private final Supplier<String> source;

  CredentialInterceptor(Supplier<String> source) {
    this.source = source;
  }

  @Override
  public <Q, R> ClientCall<Q, R> interceptCall(MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
    return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
      @Override
      public void start(Listener<R> listener, Metadata headers) {
        String credential = read();
        if (credential != null && !credential.isEmpty()) {
          headers.put(AUTHORIZATION, "Bearer " + credential);
        }
        super.start(listener, headers);
      }
    };
  }

  private String read() {
    try {
      return source.get();
    } catch (RuntimeException failure) {
      throw Status.UNAUTHENTICATED.withDescription("no credential").withCause(failure).asRuntimeException();
    }
  }
}
