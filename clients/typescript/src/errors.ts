import { BinaryReader } from "@bufbuild/protobuf/wire";
import { Code, ConnectError } from "@connectrpc/connect";

import type { Status } from "../gen/google/rpc/status_pb.js";

/** What is wrong with one field of the request. */
export interface FieldViolation {
  /** Such as "turns[3].content". */
  readonly fieldPath: string;
  readonly description: string;
}

/** A call failed. Branch on `reason` or `code`, never on `message`. */
export class MnemeError extends Error {
  override readonly name = "MnemeError";
  /** Of mneme.errors.v1.ErrorReason without its prefix; empty when the failure is not the service's own. */
  readonly reason: string = "";
  /** Facts that belong to the reason, such as `limit`. */
  readonly metadata: Readonly<Record<string, string>> = {};
  readonly violations: readonly FieldViolation[] = [];
  /** When the service asks to be called again, in milliseconds; undefined where it does not say. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    readonly code: Code,
    details: readonly { type: string; value: Uint8Array }[],
    /** Such as "mneme.gateway.v1.MemoryService/Recall"; empty for an item of a batch. */
    readonly method: string,
    cause?: unknown,
  ) {
    super(message, { cause });
    for (const { type, value } of details) {
      if (type === "google.rpc.ErrorInfo") {
        const info = new Fields(value);
        this.reason = info.text(1);
        this.metadata = Object.fromEntries(info.messages(3).map((entry) => [entry.text(1), entry.text(2)]));
      } else if (type === "google.rpc.BadRequest") {
        const violations = new Fields(value).messages(1);
        this.violations = violations.map((found) => ({ fieldPath: found.text(1), description: found.text(2) }));
      } else if (type === "google.rpc.RetryInfo") {
        const delay = new Fields(value).messages(1)[0];
        this.retryAfterMs = delay && delay.number(1) * 1000 + delay.number(2) / 1e6;
      }
    }
    const label = this.reason ? `${this.codeName}/${this.reason}` : this.codeName;
    const fields = this.violations.map((found) => `${found.fieldPath}: ${found.description}`).join("; ");
    this.message = `${label}: ${message}${fields && ` (${fields})`}`;
  }

  /** The status as gRPC writes it, such as "INVALID_ARGUMENT". */
  get codeName(): string {
    if (this.code === Code.Canceled) return "CANCELLED"; // as the protocol spells it
    return (Code[this.code] ?? "Unknown").replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
  }

  /** Whether the same call, with the same request id, may succeed when it is repeated later. */
  get retryable(): boolean {
    return isTransient(this.code) || this.code === Code.DeadlineExceeded || this.retryAfterMs !== undefined;
  }
}

/** A server that cannot be reached, or that closed while the call was on its way: gRPC cancels such calls. */
export function isTransient(code: Code): boolean {
  return code === Code.Unavailable || code === Code.Canceled;
}

/** Reads the error of one item of a batch or stream. */
export function itemError(status: Status): MnemeError {
  const details = status.details.map((any) => ({ type: any.typeUrl.replace(/^.*\//, ""), value: any.value }));
  return new MnemeError(status.message, status.code, details, "");
}

/** Makes an error of what a transport threw. */
export function fromThrown(thrown: unknown, method: string): MnemeError {
  if (thrown instanceof MnemeError) return thrown;
  const error = ConnectError.from(thrown);
  const details = error.details.filter((detail) => "type" in detail);
  const code = isLostConnection(error) ? Code.Unavailable : error.code;
  return new MnemeError(error.rawMessage, code, details, method, error);
}

const LOST = new Set([
  "ECONNABORTED",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EPIPE",
  "ERR_HTTP2_GOAWAY_SESSION",
  "ERR_HTTP2_INVALID_STREAM",
  "ERR_STREAM_DESTROYED",
  "UND_ERR_SOCKET",
]);

/** Whether the connection broke, which the transports report as other codes. */
function isLostConnection(error: ConnectError): boolean {
  for (let cause: unknown = error.cause; cause instanceof Error; cause = cause.cause) {
    if ("code" in cause && LOST.has(String(cause.code))) return true;
    // What browsers' fetch throws: "Failed to fetch", "NetworkError when ...", "Load failed".
    if (cause instanceof TypeError && /fetch|network|load failed/i.test(cause.message)) return true;
  }
  return false;
}

/** Reads a message of google.rpc, which has no published package for TypeScript. */
class Fields {
  private readonly found: { number: number; value: Uint8Array | number }[] = [];

  constructor(message: Uint8Array) {
    const reader = new BinaryReader(message);
    while (reader.pos < reader.len) {
      const [number, wireType] = reader.tag();
      if (wireType === 2) this.found.push({ number, value: reader.bytes() });
      else if (wireType === 0) this.found.push({ number, value: Number(reader.int64()) });
      else reader.skip(wireType, number);
    }
  }

  text(number: number): string {
    return new TextDecoder().decode(this.bytes(number)[0]);
  }

  messages(number: number): Fields[] {
    return this.bytes(number).map((value) => new Fields(value));
  }

  number(number: number): number {
    const field = this.found.find((field) => field.number === number);
    return typeof field?.value === "number" ? field.value : 0;
  }

  private bytes(number: number): Uint8Array[] {
    const values = this.found.filter((field) => field.number === number).map((field) => field.value);
    return values.filter((value) => typeof value !== "number");
  }
}
