// The client in browsers, by the Connect protocol over the gateway's HTTP port.

import { createConnectTransport } from "@connectrpc/connect-web";

import { type ClientOptions, MnemeClient } from "./client.js";

/** Where `mneme up` serves HTTP. */
export const DEFAULT_BASE_URL = "http://127.0.0.1:7780";

/**
 * A client of the gateway's HTTP port. The page's origin must be one of `gateway.http.origins`. Calls with a stream of
 * requests are not served by HTTP.
 */
export function connect(baseUrl: string = DEFAULT_BASE_URL, options: ClientOptions = {}): MnemeClient {
  const transport = createConnectTransport({ baseUrl, useBinaryFormat: true });
  return new MnemeClient({ transport, system: "connect_rpc", address: new URL(baseUrl) }, options);
}
