// The client in Node, by gRPC.

import { Http2SessionManager, createGrpcTransport } from "@connectrpc/connect-node";
import type { SecureClientSessionOptions } from "node:http2";

import { type ClientOptions, MnemeClient } from "./client.js";

/** Where `mneme up` serves gRPC. */
export const DEFAULT_TARGET = "127.0.0.1:7700";

/** Settings of a client in Node. */
export interface NodeOptions extends ClientOptions {
  /** Encrypt: true trusts the known certificate authorities, an object has the options of Node's TLS, such as `ca`, `cert` and `key`. */
  readonly tls?: boolean | SecureClientSessionOptions;
}

/** A connection whose other end vanished without a word is given up after 70 s, not after a quarter of an hour. */
const PINGS = { pingIntervalMs: 60_000, pingTimeoutMs: 10_000 };

/** Describes a connection to the gateway at host:port; the first call opens it. */
export function connect(target: string = DEFAULT_TARGET, options: NodeOptions = {}): MnemeClient {
  const address = new URL(`${options.tls ? "https" : "http"}://${target}`);
  const tls = typeof options.tls === "object" ? options.tls : undefined;
  const sessionManager = new Http2SessionManager(address.href, PINGS, tls);
  const transport = createGrpcTransport({ baseUrl: address.href, sessionManager });
  return new MnemeClient({ transport, system: "grpc", address, close: () => sessionManager.abort() }, options);
}
