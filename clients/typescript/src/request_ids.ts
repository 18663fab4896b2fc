import { type DescMessage, type Message, type MessageInitShape, type MessageShape, clone, create } from "@bufbuild/protobuf";

/** A copy of the request, with a new request id where it, its item or its items lack one. */
export function withRequestIds<I extends DescMessage>(schema: I, input: MessageInitShape<I>): MessageShape<I> {
  const message = clone(schema, create(schema, input));
  fill(message, schema);
  return message;
}

function fill(message: Message, schema: DescMessage): void {
  const values = message as unknown as Record<string, unknown>;
  if (schema.fields.some((field) => field.name === "request_id")) {
    values["requestId"] ||= newRequestId();
    return;
  }
  for (const field of schema.fields) {
    const value = values[field.localName];
    if (field.name === "item" && field.message && value) {
      fill(value as Message, field.message);
    } else if (field.name === "items" && field.fieldKind === "list" && field.message) {
      for (const item of value as Message[]) fill(item, field.message);
    }
  }
}

function newRequestId(): string {
  // crypto.randomUUID is missing in pages that are not served by HTTPS.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
