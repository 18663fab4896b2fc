// What is recalled for a query, with the reasons of each answer.

import { h, s } from "../dom.js";
import { duration, instant, instantAfter, moment, name, score, share, speaker } from "../format.js";
import { badge, choice, empty, field, heading, into, scopeBadge, table } from "../parts.js";

const PROFILES = ["", "evidence", "light", "plain", "balanced", "assistant", "narrative", "interaction"].map((one) => [one, one || "as configured"]);

/** Whose words a memory rests on. */
const SOURCES = {
  SOURCE_TRUST_CALLER: "set by a caller",
  SOURCE_TRUST_USER: "said by the user",
  SOURCE_TRUST_APPLICATION: "said by the application",
  SOURCE_TRUST_NAMED_SPEAKER: "said by a named speaker",
  SOURCE_TRUST_ASSISTANT: "said by the assistant",
  SOURCE_TRUST_TOOL: "output of a tool",
};

export async function render(page) {
  const { parameters } = page;
  const query = parameters.get("q") ?? "";
  const found = h("div");
  if (query) into(found, page, () => results(page, query));
  return [
    heading("Search", "reader", "What an agent would be given for a question, and why."),
    h("form", { class: "filters", onsubmit: (event) => {
      event.preventDefault();
      page.go({ drop: "", tentative: "", ...Object.fromEntries(new FormData(event.target)) });
    } },
      field("Question", h("input", { id: "query", type: "search", name: "q", value: query, required: true, maxlength: "8192", autofocus: true })),
      h("button", { type: "submit", class: "primary" }, "Recall"),
      h("details", { open: ["limit", "profile", "asof", "known", "project", "drop", "tentative"].some((one) => parameters.get(one)) }, h("summary", null, "More"),
        h("div", { class: "filters" },
          field("Turns", choice({ name: "limit" }, [["", "10"], ["25", "25"], ["50", "50"]], parameters.get("limit") ?? "")),
          field("Ranking", choice({ name: "profile" }, PROFILES, parameters.get("profile") ?? "")),
          field("True on", h("input", { type: "date", name: "asof", value: parameters.get("asof") ?? "" })),
          field("As known at the end of", h("input", { type: "date", name: "known", value: parameters.get("known") ?? "" })),
          field("Project", h("input", { name: "project", value: parameters.get("project") ?? "", maxlength: "128" })),
          check("drop", "Leave out superseded", parameters), check("tentative", "Tentative facts too", parameters)))),
    query ? found : empty("Ask something.", "The question runs through the same recall as an agent's, and is recorded in the audit log like it."),
  ];
}

const check = (id, label, parameters) => h("label", { class: "check" }, h("input", { type: "checkbox", name: id, value: "1", checked: parameters.get(id) === "1" }), label);

async function results(page, query) {
  const { parameters } = page;
  const project = parameters.get("project");
  const response = await page.call("gateway.v1.MemoryService/Recall", {
    userId: page.user,
    query,
    limit: Number(parameters.get("limit") || 10),
    scoring: parameters.get("profile") ? { profile: parameters.get("profile") } : undefined,
    asOfTime: instant(parameters.get("asof")),
    knownAtTime: instantAfter(parameters.get("known")),
    scope: project ? { level: "SCOPE_LEVEL_PROJECT", projectId: project } : undefined,
    dropSuperseded: parameters.get("drop") === "1",
    includeTentativeFacts: parameters.get("tentative") === "1",
  });
  const { memories = [], facts = [], notes = [] } = response;
  return [
    response.degraded && h("p", { class: "problem" }, "The response may be incomplete: a tier did not take part."),
    reading(response.reading ?? {}),
    section("Turns", memories, (one) => hit(one, {
      head: [h("b", null, speaker(one.turn)), h("time", null, moment(one.turn?.time)), h("a", { href: page.address("timeline", { conversation: one.conversationId }) }, one.conversationId)],
      text: one.turn?.content,
    })),
    section("Facts", facts, (one) => hit(one, {
      head: [h("b", null, one.fact.subject && one.fact.predicate ? `${one.fact.subject} ${one.fact.predicate.replaceAll("_", " ")}` : name(one.fact.category, "FACT_CATEGORY")), h("a", { href: page.address("facts", { fact: one.fact.factId }) }, `confidence ${share(one.fact.confidence)}`)],
      text: one.fact.text,
    })),
    section("Notes", notes, (one) => hit(one, {
      head: [h("b", null, name(one.note.kind, "NOTE_KIND")), h("a", { href: page.address("notes", { note: one.note.noteId }) }, one.hops ? `over ${one.hops} links` : "found directly")],
      text: one.note.content,
    })),
    memories.length + facts.length + notes.length === 0 && empty("Nothing is known about this."),
    work(response),
  ];
}

const section = (title, items, show) => items.length > 0 && h("section", null, h("h2", null, `${title} `, badge(String(items.length))), h("ol", { class: "hits" }, items.map((one) => h("li", null, show(one)))));

function hit(one, { head, text }) {
  const ended = (one.supersededStatements ?? []).map((part) => part.statement);
  const isWhole = one.supersededBy && !(one.supersededStatements ?? []).some((part) => !part.wholeTurn);
  return h("article", { class: `turn ${isWhole ? "superseded" : ""}` },
    h("header", null, head, h("span", { class: "score", title: "the sum of the parts below" }, score(one.score))),
    h("p", { class: "said", dir: "auto" }, isWhole ? text : struck(text, ended)),
    (one.supersededBy || ended.length > 0) && h("p", { class: "problem" }, "No longer holds: ",
      ended.length > 0 ? ended.map((statement, index) => [index > 0 && ", ", h("q", null, statement)]) : "all of it"),
    reasons(one.explanation ?? {}),
    h("footer", null, h("span", { class: "badge", title: "whose words this rests on" }, SOURCES[one.sourceTrust] ?? "source not known"), scopeBadge((one.turn ? one.scope : (one.fact ?? one.note)?.scope)),
      (one.explanation?.retrievers ?? []).map((rank) => badge(`${rank.retriever} #${rank.rank}`))));
}

/** A text in which the statements that ended are struck through, as far as they stand in it word for word. */
const struck = (text, statements) => statements.reduce((parts, statement) => parts.flatMap((part) => {
  const begin = typeof part === "string" && statement ? part.indexOf(statement) : -1;
  return begin < 0 ? [part] : [part.slice(0, begin), h("s", null, statement), part.slice(begin + statement.length)];
}), [text ?? ""]);

/** The parts of a score as bars on one scale, what adds to the right and what takes away to the left of a line. */
function reasons({ parts = [] }) {
  const shown = parts.filter((part) => Math.abs(part.value ?? 0) >= 0.0005);
  if (shown.length === 0) return null;
  const values = shown.map((part) => part.value);
  const least = Math.min(0, ...values);
  const span = Math.max(0.0001, Math.max(0, ...values) - least);
  const at = (value) => (100 * (value - least)) / span;
  return h("dl", { class: "reasons" }, shown.map(({ name: label, value }) => [
    h("dt", null, label.replaceAll("_", " ")),
    h("dd", null,
      s("svg", { viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
        s("rect", { x: at(Math.min(0, value)), y: 1, width: Math.max(0.6, at(Math.max(0, value)) - at(Math.min(0, value))), height: 6, class: value < 0 ? "minus" : "plus" }),
        s("rect", { x: Math.max(0, at(0) - 0.15), y: 0, width: 0.3, height: 8, class: "zero" })),
      h("span", null, `${value > 0 ? "+" : "−"}${Math.abs(value).toFixed(3)}`)),
  ]));
}

function reading(found) {
  const lines = [
    found.taskType && ["Kind of question", `${name(found.taskType, "TASK_TYPE")}${found.taskTypeConfidence ? ` (${share(found.taskTypeConfidence)})` : ""}`],
    found.speakers?.length && ["About", found.speakers.join(", ")],
    found.timeRanges?.length && ["Times", found.timeRanges.map((range) => `${moment(range.startTime)} to ${moment(range.endTime)}`).join("; ")],
    found.rewrittenQuery && ["Rewritten to", found.rewrittenQuery],
    found.embeddedQuery && ["Looked for", found.embeddedQuery],
    found.appliedPatterns?.length && ["Learned patterns", found.appliedPatterns.map((one) => `${one.pattern || "every question"} → ${one.replacement}`).join("; ")],
  ].filter(Boolean);
  return h("dl", { class: "reading" }, lines.map(([label, text]) => [h("dt", null, label), h("dd", null, text)]));
}

function work({ tiers = [], stages = [], conflicts = [], recallId }) {
  const longest = Math.max(0.000001, ...stages.map((stage) => parseFloat(stage.duration ?? 0)));
  return [
    conflicts.length > 0 && h("section", null, h("h2", null, "Contradictions"), table(["About", "Why one stands", "Kind"],
      conflicts.map((one) => [one.subject, one.detail || name(one.reason, "CONFLICT_REASON"), name(one.kind, "CONFLICT_KIND")]))),
    h("details", null, h("summary", null, "How it was found"),
      table(["Tier", "Took part", "Candidates", "Time"], tiers.map((tier) => [
        name(tier.tier, "TIER"), [badge(name(tier.state, "TIER_STATE"), tier.state === "TIER_STATE_FAILED" ? "bad" : ""), " ", tier.reason], String(tier.candidateCount ?? 0), duration(tier.duration)])),
      h("dl", { class: "reasons" }, stages.map((stage) => [h("dt", null, stage.stage), h("dd", null,
        s("svg", { viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" }, s("rect", { x: 0, y: 1, height: 6, class: "time", width: (100 * parseFloat(stage.duration ?? 0)) / longest })),
        h("span", null, duration(stage.duration ?? "0s"), stage.reason && ` · ${stage.reason}`))])),
      h("p", { class: "quiet" }, `recall ${recallId}`)),
  ];
}
