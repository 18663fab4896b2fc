// Calls of the gateway by Connect's JSON, on the origin that served this page.

const BASE = new URL("../", import.meta.url);
const STORED_KEY = "mneme.key";
const TIMEOUT_MS = 15000;

let key = sessionStorage.getItem(STORED_KEY) ?? "";

/** A call that was refused or did not come through. */
export class CallError extends Error {
  constructor(code, message, method, requestId) {
    super(message);
    this.code = code;
    this.method = method;
    this.requestId = requestId;
  }
}

export const hasKey = () => key !== "";

/** Uses a key from now on; `isKept` keeps it for this tab, through reloads. */
export function useKey(chosen, isKept) {
  key = chosen;
  if (isKept && chosen) sessionStorage.setItem(STORED_KEY, chosen);
  else sessionStorage.removeItem(STORED_KEY);
}

/** Whether calls need a key; a gateway that does not say so answers the first call itself. */
export async function needsKey() {
  try {
    const response = await fetch(new URL("health", BASE), { cache: "no-store", credentials: "omit", redirect: "error" });
    return (await response.json()).needs_key === true;
  } catch {
    return false;
  }
}

/** An idempotency key: make it once for each thing that a person decides, so that a repeat does nothing twice. */
export function newRequestId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return "console-" + Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Calls a method such as "gateway.v1.MemoryService/Recall" and returns its response as an object. */
export async function call(method, request = {}, { signal } = {}) {
  const headers = { "content-type": "application/json", "connect-timeout-ms": String(TIMEOUT_MS) };
  if (key) headers.authorization = `Bearer ${key}`;
  const ends = [AbortSignal.timeout(TIMEOUT_MS + 2000), ...(signal ? [signal] : [])];
  let response;
  try {
    response = await fetch(new URL(`mneme.${method}`, BASE), {
      method: "POST",
      headers,
      body: JSON.stringify(request),
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      signal: AbortSignal.any(ends),
    });
    const body = await response.text();
    if (response.ok) return JSON.parse(body || "{}");
    throw refusal(response, body, method);
  } catch (error) {
    if (error instanceof CallError || signal?.aborted) throw error;
    const late = error.name === "TimeoutError";
    throw new CallError(late ? "deadline_exceeded" : "unavailable", late ? "The gateway did not respond in time." : "The gateway cannot be reached.", method, "");
  }
}

function refusal(response, body, method) {
  let found = {};
  try {
    found = JSON.parse(body);
  } catch {
    // A proxy's own page: its status says what there is to say.
  }
  const code = found.code ?? (response.status === 401 ? "unauthenticated" : response.status === 403 ? "permission_denied" : "unknown");
  return new CallError(code, found.message ?? `The response has the status ${response.status}.`, method, response.headers.get("x-request-id") ?? "");
}

/** Runs `work` over items, a few at a time, and returns the results in the order of the items. */
export async function inParallel(items, atOnce, work) {
  const results = new Array(items.length);
  let next = 0;
  const one = async () => {
    while (next < items.length) {
      const index = next++;
      results[index] = await work(items[index]);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, one));
  return results;
}
