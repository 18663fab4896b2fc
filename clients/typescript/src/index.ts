// What Node and browsers share. Each has a `connect` of its own, in "./node.js" and "./web.js".

export { type ClientOptions, type Connection, MnemeClient, pages } from "./client.js";
export { type FieldViolation, MnemeError, itemError } from "./errors.js";
export { DEFAULT_RETRY, type RetryPolicy } from "./retry.js";
export { type Credential } from "./transport.js";
