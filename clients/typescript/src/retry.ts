import { type MnemeError, isTransient } from "./errors.js";

/**
 * When a failed call is repeated: with UNAVAILABLE, and with CANCELLED by the server, within the call's deadline. Every
 * write carries a request id, which makes repeats safe.
 */
export interface RetryPolicy {
  /** The first attempt included. */
  readonly attemptsMax: number;
  /** Upper bound of the first wait; doubles each time. */
  readonly initialBackoffMs: number;
  /** Upper bound of any wait, unless the service asks for a longer one. */
  readonly backoffMaxMs: number;
}

export const DEFAULT_RETRY: RetryPolicy = { attemptsMax: 6, initialBackoffMs: 100, backoffMaxMs: 2_000 };

/** How long to wait before the next attempt, or undefined when there should be none. */
export function delayMs(policy: RetryPolicy, error: MnemeError, attempt: number, remainingMs: number): number | undefined {
  if (!isTransient(error.code) || attempt >= policy.attemptsMax) return undefined;
  const bound = Math.min(policy.backoffMaxMs, policy.initialBackoffMs * 2 ** (attempt - 1));
  // Jitter keeps the clients of a restarted server from coming back all at once.
  const delay = Math.max(error.retryAfterMs ?? 0, bound * (0.5 + Math.random() / 2));
  return delay < remainingMs ? delay : undefined;
}

/** Waits, or throws the signal's reason. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const aborted = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", aborted);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", aborted, { once: true });
  });
}
