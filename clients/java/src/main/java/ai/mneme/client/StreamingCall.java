package ai.mneme.client;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * The responses of a call with a stream of requests, which get request ids where they lack them. A thread of its own sends
 * the requests, since their source may wait, even for the responses to earlier ones.
 */
final class StreamingCall<Q, R> extends ClientCall.Listener<R> implements Iterator<R> {
  private final ClientCall<Q, R> call;
  private final Iterable<Q> requests;
  private final Thread sender = new Thread(this::send, "mneme-requests");
  private final BlockingQueue<Runnable> events = new LinkedBlockingQueue<>(); // for the thread that reads the responses
  private R next; // null: none has been read yet
  private boolean isOver;
  private StatusRuntimeException failure; // why it is over; null: it succeeded
  private volatile boolean isClosed;

  private StreamingCall(ClientCall<Q, R> call, Iterable<Q> requests) {
    this.call = call;
    this.requests = requests;
    sender.setDaemon(true);
  }

  /** Begins the call. It ends with the context that is current now. */
  static <Q, R> StreamingCall<Q, R> start(
      Channel channel, MethodDescriptor<Q, R> method, CallOptions options, Iterable<Q> requests) {
    var made = new StreamingCall<>(channel.newCall(method, options), requests);
    made.call.start(made, new Metadata());
    made.call.request(1);
    made.sender.start();
    return made;
  }

  @Override
  public boolean hasNext() {
    while (next == null && !isOver) {
      try {
        events.take().run();
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        call.cancel("interrupted", interrupted);
        throw Status.CANCELLED.withDescription("interrupted").withCause(interrupted).asRuntimeException();
      }
    }
    if (next == null && failure != null) {
      throw failure;
    }
    return next != null;
  }

  @Override
  public R next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    R response = next;
    next = null;
    call.request(1);
    return response;
  }

  @Override
  public void onMessage(R response) {
    events.add(() -> next = response);
  }

  @Override
  public void onReady() {
    wakeSender();
  }

  @Override
  public void onClose(Status status, Metadata trailers) {
    isClosed = true;
    sender.interrupt(); // it may wait for a request that nobody asks for any more
    wakeSender();
    end(status.isOk() ? null : status.asRuntimeException(trailers));
  }

  private void send() {
    try {
      for (Q request : requests) {
        waitUntilReady();
        if (isClosed) {
          return;
        }
        call.sendMessage(RequestIds.fill(request));
      }
      call.halfClose();
    } catch (InterruptedException interrupted) {
      call.cancel("interrupted", interrupted);
    } catch (RuntimeException | Error broken) {
      if (!isClosed) { // the source failed
        end(Status.UNKNOWN.withDescription("the requests cannot be read").withCause(broken).asRuntimeException());
        call.cancel("the requests cannot be read", broken);
      }
    }
  }

  private synchronized void waitUntilReady() throws InterruptedException {
    while (!call.isReady() && !isClosed) {
      wait();
    }
  }

  private synchronized void wakeSender() {
    notifyAll();
  }

  /** Responses that came before are read first. */
  private void end(StatusRuntimeException why) {
    events.add(
        () -> {
          isOver = true;
          failure = why;
        });
  }
}
