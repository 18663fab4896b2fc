package ai.mneme.client;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * When a failed call is repeated: with UNAVAILABLE, and with CANCELLED by the server, within the call's deadline. Every write
 * carries a request id, which makes repeats safe.
 *
 * @param attemptsMax the first one included
 * @param initialBackoff upper bound of the first wait; doubles each time
 * @param backoffMax upper bound of any wait, unless the service asks for a longer one
 */
public record RetryPolicy(int attemptsMax, Duration initialBackoff, Duration backoffMax) {
  /** The policy of a client that has none of its own. */
  public static final RetryPolicy DEFAULT = new RetryPolicy(6, Duration.ofMillis(100), Duration.ofSeconds(2));

  /** Waits before the next attempt and says whether there should be one. */
  boolean waitBeforeNext(MnemeException error, int attempt, long remainingNanos) {
    if (!error.isTransient() || attempt >= attemptsMax || Thread.currentThread().isInterrupted()) {
      return false;
    }
    long bound = Math.min(backoffMax.toNanos(), initialBackoff.toNanos() << Math.min(attempt - 1, 16));
    // Jitter keeps the clients of a restarted server from coming back all at once.
    long delay = ThreadLocalRandom.current().nextLong(bound / 2, bound + 1);
    if (error.retryAfter() != null) {
      delay = Math.max(delay, error.retryAfter().toNanos());
    }
    return delay < remainingNanos && sleep(delay);
  }

  static boolean sleep(long nanos) {
    try {
      TimeUnit.NANOSECONDS.sleep(nanos);
      return true;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
