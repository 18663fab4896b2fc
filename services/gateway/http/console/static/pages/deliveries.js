// What waits on its way to the tiers, and what was given up.

import { h, put } from "../dom.js";
import { count, duration, moment, name } from "../format.js";
import { badge, changing, empty, heading, identifier, into, notice, paged } from "../parts.js";

const SERVICE = "gateway.v1.DeliveryService";

export async function render(page) {
  const backlog = h("div");
  into(backlog, page, async () => {
    const { tiers = [] } = await page.call(`${SERVICE}/GetBacklog`);
    return h("dl", { class: "numbers" }, tiers.map((tier) => h("div", { class: tier.deadCount ? "alarm" : "" }, h("dt", null, name(tier.tier, "TIER")),
      h("dd", null, `${count(tier.pendingCount)} waiting`), h("small", null, `${count(tier.deadCount)} given up${tier.oldestAge ? ` · oldest ${duration(tier.oldestAge)}` : ""}`))));
  });
  return [
    heading("Deliveries", "reader; admin for dead letters", "What is on its way from the log to the tiers. Nothing is lost while it waits."),
    backlog, h("h2", null, "Dead letters"), deadLetters(page),
  ];
}

function deadLetters(page) {
  const chosen = new Map();
  const actions = h("div", { class: "actions" });
  const update = () => put(actions, chosen.size > 0 && changing(`Try ${count(chosen.size)} again`, {
    title: "Put back into the queue?", yes: "Yes, try again",
    text: () => `${count(chosen.size)} deliveries are tried again from the beginning. What was stored already is not stored twice.`,
    act: async (requestId) => {
      const { retriedCount } = await page.call(`${SERVICE}/RetryDeadLetters`, { requestId, deliveryIds: [...chosen.keys()] });
      notice(`${count(retriedCount)} put back into the queue.`);
      page.show();
    },
  }));
  return [actions, paged(page, {
    load: async (pageToken) => {
      const found = await page.call(`${SERVICE}/ListDeadLetters`, { pageSize: 50, pageToken });
      return { items: found.deadLetters ?? [], next: found.nextPageToken };
    },
    show: (letters) => letters.map((one) => h("article", { class: "turn" },
      h("header", null, h("label", { class: "check" }, h("input", { type: "checkbox", onchange: (event) => {
        if (event.target.checked) chosen.set(one.deliveryId, one);
        else chosen.delete(one.deliveryId);
        update();
      } }), `to the ${name(one.tier, "TIER")} tier`), badge(name(one.reason, "ERROR_REASON"), "bad"), h("time", null, moment(one.giveUpTime))),
      h("p", null, one.detail || "The tier gave no detail."),
      h("footer", null, h("span", null, `of ${one.userId}`), h("span", null, `${count(one.attemptCount)} attempts`), identifier(one.subjectId)))),
    none: empty("Nothing was given up."),
  })];
}
