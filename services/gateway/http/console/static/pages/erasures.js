// Erasures of the user with their receipts: what each store erased, and what is still under way.

import { h } from "../dom.js";
import { count, moment, name } from "../format.js";
import { badge, empty, field, heading, into, paged, table } from "../parts.js";

export async function render(page) {
  const id = page.parameters.get("id") ?? "";
  const found = h("div");
  if (id) into(found, page, () => receipt(page, id));
  return [
    heading("Erasures", "reader", "What was erased of this user, newest first, or one erasure by its id. Receipts hold no content."),
    h("form", { class: "filters", onsubmit: (event) => {
      event.preventDefault();
      page.go({ id: new FormData(event.target).get("id").trim() });
    } }, field("Erasure", h("input", { id: "query", name: "id", value: id, size: "38", spellcheck: "false", autocomplete: "off" })), h("button", { type: "submit" }, "Show")),
    id ? found : !page.user ? empty("Which erasure?", "Choose a user, or give the id that mneme erase and mneme forget print.") : paged(page, {
      load: async (pageToken) => {
        const listed = await page.call("gateway.v1.ErasureService/ListErasures", { userId: page.user, pageSize: 25, pageToken });
        return { items: listed.erasures ?? [], next: listed.nextPageToken };
      },
      show: (items) => items.map((erasure) => h("article", { class: "turn" },
        h("header", null, h("a", { href: page.address("erasures", { id: erasure.erasureId }) }, erasure.erasureId)), shown(erasure))),
      none: empty("Nothing was erased of this user.", "Erasures of the whole tenant are shown by their id."),
    }),
  ];
}

async function receipt(page, erasureId) {
  const { erasure } = await page.call("gateway.v1.ErasureService/GetErasure", { erasureId });
  return [...shown(erasure), erasure.state !== "ERASURE_STATE_DONE" && h("button", { type: "button", onclick: page.show }, "Look again")];
}

function shown(erasure) {
  const isDone = erasure.state === "ERASURE_STATE_DONE";
  return [
    h("dl", { class: "numbers" },
      ...[["of", erasure.userId || "the whole tenant"], ["state", badge(name(erasure.state, "ERASURE_STATE"), isDone ? "good" : "warn")], ["accepted", moment(erasure.createTime)],
        ["complete", isDone ? moment(erasure.completeTime) : "not yet"], erasure.backupExpireTime && ["in backups until", moment(erasure.backupExpireTime)]]
        .filter(Boolean).map(([label, value]) => h("div", { class: "words" }, h("dt", null, label), h("dd", null, value)))),
    table(["Store", "State", "Erased"], (erasure.stores ?? []).map((store) => [name(store.store, "ERASURE_STORE"), badge(store.done ? "done" : "under way", store.done ? "good" : "warn"),
      Object.entries(store.counts ?? {}).map(([what, number]) => `${count(number)} ${what.replaceAll("_", " ")}`).join(", ") || "nothing was there"])),
  ];
}
