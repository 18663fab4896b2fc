// What a user's memory holds, day by day, or conversation by conversation.

import { h } from "../dom.js";
import { clock, count, date, day, instant, instantAfter, moment, name, several, speaker } from "../format.js";
import { badge, choice, empty, field, heading, identifier, into, markBadges, meter, paged, scopeBadge, tabs } from "../parts.js";

const STATUSES = [["", "any"], ["EPISODE_STATUS_ACTIVE", "active"], ["EPISODE_STATUS_ARCHIVED", "archived"], ["EPISODE_STATUS_PENDING_EMBEDDING", "pending embedding"]];
const PAGE_SIZE = 50;

export async function render(page) {
  const conversation = page.parameters.get("conversation");
  const isLog = page.parameters.get("by") === "conversations" || Boolean(conversation);
  const profile = h("div");
  into(profile, page, () => summary(page));
  return [
    heading("Timeline", "reader", `What the memory of ${page.user} holds.`),
    profile,
    tabs("Order", [[page.address("timeline"), "By day", !isLog], [page.address("timeline", { by: "conversations" }), "By conversation", isLog]]),
    conversation ? transcript(page, conversation) : isLog ? conversations(page) : days(page),
  ];
}

async function summary(page) {
  const { profile } = await page.call("semantic.v1.ProfileService/GetProfile", { userId: page.user });
  const found = profile?.statistics ?? {};
  if (!found.firstInteractionTime) return null;
  const turns = Number(found.userTurnCount ?? 0) + Number(found.assistantTurnCount ?? 0);
  return h("dl", { class: "numbers" },
    number(count(turns), "turns"), number(count(found.conversationCount), "conversations"), number(count(found.questionCount), "questions"),
    number(date(found.firstInteractionTime), "first"), number(date(found.lastInteractionTime), "last"),
    found.topics?.length > 0 && number(found.topics.slice(0, 5).map((topic) => topic.name).join(", "), "asked about", "words"));
}

const number = (value, label, kind = "") => h("div", { class: kind }, h("dt", null, label), h("dd", null, value));

function days(page) {
  const { parameters } = page;
  const filter = { status: parameters.get("status") || undefined, startTime: instant(parameters.get("from")), endTime: instantAfter(parameters.get("to")) };
  let last = "";
  const show = (episodes) => episodes.map((episode) => {
    const title = day(episode.time);
    const head = title !== last && h("h2", { class: "day" }, title);
    last = title;
    return [head, turnOf(page, episode)];
  });
  return [
    h("form", { class: "filters", onsubmit: (event) => {
      event.preventDefault();
      page.go(Object.fromEntries(new FormData(event.target)));
    } },
      field("From", h("input", { type: "date", name: "from", value: parameters.get("from") ?? "" })),
      field("To", h("input", { type: "date", name: "to", value: parameters.get("to") ?? "" })),
      field("Status", choice({ name: "status" }, STATUSES, parameters.get("status") ?? "")),
      h("button", { type: "submit" }, "Show")),
    paged(page, {
      load: async (pageToken) => {
        const found = await page.call("episodic.v1.EpisodicService/ListEpisodes", { userId: page.user, ...filter, pageSize: PAGE_SIZE, pageToken });
        return { items: found.episodes ?? [], next: found.nextPageToken };
      },
      show,
      more: "Load earlier",
      none: empty("Nothing is remembered here.", "Another user id, or a wider span of time? What Remember takes is here within a second."),
    }),
  ];
}

function turnOf(page, episode) {
  const status = name(episode.status, "EPISODE_STATUS");
  return turn({
    time: clock(episode.time),
    who: episode.speaker || name(episode.role, "MESSAGE_ROLE"),
    isAgent: episode.role === "MESSAGE_ROLE_ASSISTANT",
    text: [episode.query, episode.response].filter(Boolean).join("\n"),
    attachments: episode.attachments,
    notes: [
      status !== "active" && badge(status, "warn"),
      markBadges(episode),
      episode.feedback && badge(episode.feedback > 0 ? "judged good" : "judged bad", episode.feedback > 0 ? "good" : "bad"),
      scopeBadge(episode.scope),
      meter("importance", episode.importance),
      episode.accessCount > 0 && h("small", { title: `last ${moment(episode.lastAccessTime)}` }, `recalled ${several(episode.accessCount, "time")}`),
      h("a", { href: page.address("timeline", { conversation: episode.conversationId }) }, episode.conversationId),
    ],
  });
}

function turn({ time, who, isAgent, text, attachments, notes }) {
  return h("article", { class: `turn ${isAgent ? "agent" : ""}` },
    h("header", null, h("b", null, who), h("time", null, time)),
    h("p", { class: "said", dir: "auto" }, text),
    (attachments ?? []).map((one) => h("p", { class: "attachment" }, badge(one.mimeType || "attachment"), " ", one.caption || one.uri)),
    h("footer", null, notes));
}

function conversations(page) {
  return paged(page, {
    load: async (pageToken) => {
      const found = await page.call("gateway.v1.ConversationService/ListConversations", { userId: page.user, pageSize: PAGE_SIZE, pageToken });
      return { items: found.conversations ?? [], next: found.nextPageToken };
    },
    show: (items) => items.map((one) =>
      h("a", { class: "row", href: page.address("timeline", { conversation: one.conversationId }) },
        h("b", null, one.conversationId), h("span", null, several(one.interactionCount, "turn")), h("span", { class: "quiet" }, `last written ${moment(one.updateTime)}`))),
    none: empty("No conversation is in the log."),
  });
}

function transcript(page, conversationId) {
  return [
    h("h2", null, conversationId, " ", h("a", { class: "back", href: page.address("timeline", { by: "conversations" }) }, "all conversations")),
    paged(page, {
      load: async (pageToken) => {
        const found = await page.call("gateway.v1.ConversationService/ListInteractions", { userId: page.user, conversationId, pageSize: PAGE_SIZE, pageToken });
        return { items: found.interactions ?? [], next: found.nextPageToken };
      },
      show: (items) => items.map((one) => turn({
        time: `#${one.position ?? 0} · ${moment(one.turn.time)}`,
        who: speaker(one.turn),
        isAgent: one.turn.role === "MESSAGE_ROLE_ASSISTANT",
        text: one.turn.content ?? "",
        attachments: one.turn.attachments,
        notes: [
          one.verdict?.gated && badge(`not a memory: ${name(one.verdict.reason, "GATE_REASON")}`, "warn"),
          one.verdict && !one.verdict.gated && badge(name(one.verdict.reason, "GATE_REASON"), "good"),
          markBadges(one), scopeBadge(one.scope), identifier(one.interactionId),
        ],
      })),
      none: empty("This conversation has no turns."),
    }),
  ];
}
