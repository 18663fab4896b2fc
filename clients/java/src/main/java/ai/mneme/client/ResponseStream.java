package ai.mneme.client;

import io.grpc.Context;
import io.grpc.MethodDescriptor;
import io.grpc.StatusRuntimeException;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.BiPredicate;
import java.util.function.Supplier;

/**
 * Responses as they arrive. Belongs to one thread. Closed early, the service stops working at once; closing one that has come to
 * its end is not needed.
 */
public final class ResponseStream<R> implements Iterator<R>, AutoCloseable {
  private final Context.CancellableContext context = Context.current().withCancellation();
  private final Supplier<Iterator<R>> open;
  private final BiPredicate<MnemeException, Integer> waitBeforeNext;
  private final MethodDescriptor<?, R> method;
  private final CallSpan span;
  private Iterator<R> responses;
  private int attempts;
  private boolean hasBegun;
  private boolean isOver;

  ResponseStream(
      Supplier<Iterator<R>> open,
      BiPredicate<MnemeException, Integer> waitBeforeNext,
      MethodDescriptor<?, R> method,
      CallSpan span) {
    this.open = open;
    this.waitBeforeNext = waitBeforeNext;
    this.method = method;
    this.span = span;
  }

  @Override
  public boolean hasNext() {
    while (!isOver) {
      try {
        if (responses == null) {
          attempts++;
          Context before = context.attach();
          try {
            responses = open.get();
          } finally {
            context.detach(before);
          }
        }
        if (responses.hasNext()) {
          return true;
        }
        end(null);
      } catch (StatusRuntimeException failure) {
        MnemeException error = MnemeException.of(failure, method.getFullMethodName());
        if (hasBegun || !waitBeforeNext.test(error, attempts)) {
          end(error);
          throw error;
        }
        responses = null;
      }
    }
    return false;
  }

  @Override
  public R next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    hasBegun = true;
    R response = responses.next();
    span.responded(response);
    if (method.getType() == MethodDescriptor.MethodType.CLIENT_STREAMING) { // nobody asks for the end of one response
      hasNext();
    }
    return response;
  }

  @Override
  public void close() {
    if (!isOver) {
      end(null);
    }
  }

  private void end(MnemeException error) {
    isOver = true;
    span.end(error);
    context.cancel(null);
  }
}
