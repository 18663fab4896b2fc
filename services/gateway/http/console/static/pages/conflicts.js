// Statements that superseded others, and those that wait for a decision.

import { h } from "../dom.js";
import { moment, name } from "../format.js";
import { badge, changing, empty, heading, notice, paged, tabs } from "../parts.js";

const STATES = [["PENDING", "Waiting"], ["APPLIED", "Applied"], ["REJECTED", "Rejected"]];
const DECISIONS = [["LATER_STANDS", "The later stands", "The earlier statement is marked as superseded."], ["EARLIER_STANDS", "The earlier stands", "The later statement is marked as superseded."], ["BOTH_STAND", "Both stand", "Neither statement is marked."]];

export async function render(page) {
  const state = page.parameters.get("state") || "PENDING";
  return [
    heading("Conflicts", "reader; writer to decide", "Statements that cannot both hold. What waits is marked nowhere until somebody decides; each decision can be taken back."),
    tabs("State", STATES.map(([value, label]) => [page.address("conflicts", { state: value }), label, value === state])),
    paged(page, {
      load: async (pageToken) => {
        const found = await page.call("semantic.v1.SupersessionService/ListSupersessions", { userId: page.user, state: `SUPERSESSION_STATE_${state}`, pageSize: 25, pageToken });
        return { items: found.supersessions ?? [], next: found.nextPageToken };
      },
      show: (items) => items.map((one) => h("article", { class: "turn" },
        h("header", null, badge(name(one.reason, "SUPERSESSION_REASON")), h("time", null, moment(one.endTime))),
        h("div", { class: "pair" }, side("Earlier", one.statement), side("Later", one.standingStatement || "(a correction of the whole turn)")),
        h("div", { class: "actions" }, DECISIONS.map(([decision, label, effect]) => changing(label, {
          title: `${label}?`, yes: "Yes, decide so",
          text: `${effect} Earlier: “${one.statement}” Later: “${one.standingStatement || "a correction"}”`,
          act: async (requestId) => {
            await page.call("semantic.v1.SupersessionService/ResolveSupersession", { requestId, userId: page.user, supersessionId: one.supersessionId, decision: `SUPERSESSION_DECISION_${decision}` });
            notice("Decided.");
            page.show();
          },
        }))))),
      none: empty(state === "PENDING" ? "Nothing waits for a decision." : "There are none."),
    }),
  ];
}

const side = (label, text) => h("div", null, h("small", null, label), h("p", { class: "said", dir: "auto" }, text));
