// Who did what to which memory: the newest entries first, and the checkpoint that pins them.

import { h } from "../dom.js";
import { count, moment } from "../format.js";
import { badge, empty, heading, identifier, paged, table } from "../parts.js";

const PAGE_SIZE = 50;
const hexadecimal = (base64) => Array.from(atob(base64 ?? ""), (one) => one.charCodeAt(0).toString(16).padStart(2, "0")).join("");

export async function render(page) {
  const pinned = await page.call("gateway.v1.AuditService/GetAuditCheckpoint");
  const size = Number(pinned.size ?? 0);
  return [
    heading("Audit", "admin", "Each call that ended well, without content. A checkpoint that is stored elsewhere pins all entries before it."),
    h("dl", { class: "numbers" }, h("div", null, h("dt", null, "entries"), h("dd", null, count(size)))),
    h("details", null, h("summary", null, "Checkpoint"), h("pre", null, h("code", null, pinned.checkpoint ?? "")), h("p", { class: "quiet" }, "public key ", h("code", null, hexadecimal(pinned.publicKey)))),
    paged(page, { load: (end) => newestBefore(page, end === "" ? size : Number(end)), show: (entries) => entries.length > 0 && entryTable(page, entries), more: "Load earlier", none: empty("The log is empty.") }),
  ];
}

/** The entries before one, newest first: the service lists them oldest first from a given one. */
async function newestBefore(page, end) {
  const from = Math.max(0, end - PAGE_SIZE);
  if (end === 0) return { items: [], next: "" };
  const { entries = [] } = await page.call("gateway.v1.AuditService/ListAuditEntries", { fromIndex: String(from), pageSize: end - from });
  return { items: entries.reverse(), next: from > 0 ? String(from) : "" };
}

const entryTable = (page, entries) => table(["#", "When", "Who", "Call", "Memory of", "Memories"], entries.map((entry) => {
  const index = String(entry.index ?? 0);
  if (!entry.body) return [index, "", "", badge("erased with its user", "warn"), "", identifier(hexadecimal(entry.commitment).slice(0, 16))];
  const body = JSON.parse(entry.body);
  const memories = body.memories ?? [];
  return [index, moment(body.time), body.principal ?? "", body.method ?? "",
    body.user_id ? h("a", { href: page.address("timeline", { user: body.user_id }) }, body.user_id) : "",
    memories.length > 0 && h("details", null, h("summary", null, count(memories.length)), memories.map((one) => h("div", null, identifier(typeof one === "string" ? one : JSON.stringify(one)))))];
}));
