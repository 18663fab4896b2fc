// Facts on a time line, and the history and the evidence of one.

import { h, s } from "../dom.js";
import { date, moment, name, share, several } from "../format.js";
import { badge, chart, choice, empty, field, heading, meter, paged, scopeBadge, table } from "../parts.js";

const CATEGORIES = ["", "PREFERENCE", "COMMITMENT", "RELATIONSHIP", "CONSTRAINT", "INSTRUCTION", "CONTEXT", "PERSONAL_INFO"]
  .map((one) => [one && `FACT_CATEGORY_${one}`, one ? one.replaceAll("_", " ").toLowerCase() : "any"]);
const STATUSES = [["", "in use"], ["all", "all"], ["FACT_STATUS_DEPRECATED", "deprecated"], ["FACT_STATUS_ARCHIVED", "archived"], ["FACT_STATUS_MERGED_INTO", "merged"]];
const ALL = ["TENTATIVE", "STABLE", "DEPRECATED", "MERGED_INTO", "ARCHIVED"].map((one) => `FACT_STATUS_${one}`);
const LANES = { width: 900, label: 270, row: 26, top: 26 };

export async function render(page) {
  const { parameters } = page;
  const id = parameters.get("fact");
  if (id) return detail(page, id);
  const chosen = parameters.get("status") ?? "";
  return [
    heading("Facts", "reader", "What is held true, since when, and until when. A line that has ended was superseded or expired."),
    h("form", { class: "filters", onsubmit: (event) => {
      event.preventDefault();
      page.go(Object.fromEntries(new FormData(event.target)));
    } },
      field("Category", choice({ name: "category" }, CATEGORIES, parameters.get("category") ?? "")),
      field("Status", choice({ name: "status" }, STATUSES, chosen)),
      field("About", h("input", { name: "subject", value: parameters.get("subject") ?? "", maxlength: "512" })),
      h("button", { type: "submit" }, "Show")),
    paged(page, {
      load: async (pageToken) => {
        const found = await page.call("semantic.v1.FactService/ListFacts", {
          userId: page.user, pageSize: 25, pageToken, subject: parameters.get("subject") ?? "",
          category: parameters.get("category") || undefined,
          statuses: chosen === "all" ? ALL : chosen ? [chosen] : [],
        });
        return { items: found.facts ?? [], next: found.nextPageToken };
      },
      show: (facts) => facts.length > 0 && [lanes(page, facts), factTable(page, facts)],
      none: empty("No facts.", "They are read from what the user says, or stated by CreateFact."),
    }),
  ];
}

const begin = (fact) => Date.parse(fact.validFromTime ?? fact.firstObservedTime);
/** Subject, predicate and object where a fact has all of them, else what it says. */
const short = (fact) => (fact.subject && fact.predicate && fact.object ? `${fact.subject} ${fact.predicate.replaceAll("_", " ")}: ${fact.object}` : fact.text ?? "");
const order = (fact) => `${fact.subject ?? ""} ${fact.predicate ?? ""}`;
const until = (fact) => (fact.validToTime ? Date.parse(fact.validToTime) : null);

function lanes(page, facts) {
  const sorted = [...facts].sort((one, other) => order(one).localeCompare(order(other)) || begin(one) - begin(other));
  const latest = Math.max(...facts.flatMap((fact) => [begin(fact), until(fact) ?? 0, Date.parse(fact.lastConfirmedTime)]));
  const earliest = Math.min(...facts.map(begin));
  const span = Math.max(86400000, latest - earliest);
  const x = (time) => LANES.label + ((LANES.width - LANES.label - 24) * (time - earliest)) / span;
  const height = LANES.top + sorted.length * LANES.row + 8;
  return chart(LANES.width, height, `${several(facts.length, "fact")} on a time line from ${date(earliest)} to ${date(latest)}; the table below says the same`,
    [0, 0.5, 1].map((part) => [
      s("line", { x1: x(earliest + span * part), x2: x(earliest + span * part), y1: 20, y2: height, class: "axis" }),
      s("text", { x: x(earliest + span * part), y: 14, "text-anchor": ["start", "middle", "end"][part * 2] }, date(earliest + span * part)),
    ]),
    Date.now() > earliest && Date.now() < latest && s("line", { x1: x(Date.now()), x2: x(Date.now()), y1: 20, y2: height, class: "today" }, s("title", null, "today")),
    sorted.map((fact, index) => {
      const y = LANES.top + index * LANES.row;
      const end = until(fact);
      const text = short(fact);
      return s("a", { href: page.address("facts", { fact: fact.factId }), "aria-label": fact.text },
        s("title", null, `${fact.text} · ${date(begin(fact))} – ${end ? date(end) : "now"}`),
        s("text", { x: 10, y: y + 15, class: "strong" }, text.length > 36 ? `${text.slice(0, 35)}…` : text),
        s("rect", { x: x(begin(fact)), y: y + 5, height: 13, rx: 4, width: Math.max(5, x(end ?? latest) - x(begin(fact))), class: `lane ${end ? "over" : ""}`, opacity: 0.35 + 0.65 * (fact.confidence ?? 0) }),
        (fact.versions ?? []).map((version) => {
          const at = x(Math.min(latest, Math.max(earliest, Date.parse(version.replacedTime))));
          return s("circle", { cx: at, cy: y + 11.5, r: 4, class: "mark" }, s("title", null, `${name(version.reason, "FACT_VERSION_REASON")} ${date(version.replacedTime)}`));
        }));
    }));
}

const factTable = (page, facts) => h("details", null, h("summary", null, "As a table"), table(["Fact", "Category", "Holds", "Confidence", "Status"], facts.map((fact) => [
  h("a", { href: page.address("facts", { fact: fact.factId }) }, fact.text), name(fact.category, "FACT_CATEGORY"), holds(fact), share(fact.confidence), name(fact.status, "FACT_STATUS")])));

const holds = (fact) => `${date(fact.validFromTime ?? fact.firstObservedTime)} – ${fact.validToTime ? date(fact.validToTime) : "now"}`;

async function detail(page, factId) {
  const { fact } = await page.call("semantic.v1.FactService/GetFact", { userId: page.user, factId });
  const ids = fact.derivedFrom ?? [];
  const { episodes = [] } = ids.length ? await page.call("episodic.v1.EpisodicService/BatchGetEpisodes", { userId: page.user, episodeIds: ids }) : {};
  const versions = fact.versions ?? [];
  return [
    heading("Fact", "reader", h("a", { href: page.address("facts") }, "all facts")),
    h("article", { class: `turn ${fact.validToTime ? "superseded" : ""}` }, h("p", { class: "said", dir: "auto" }, fact.text),
      h("footer", null, badge(name(fact.status, "FACT_STATUS")), badge(name(fact.category, "FACT_CATEGORY")), scopeBadge(fact.scope), meter("confidence", fact.confidence), meter("importance", fact.importance), holds(fact))),
    h("h2", null, "History"), history(fact),
    table(["Until", "It said", "Confidence", "Then"], [
      ...versions.map((one) => [moment(one.replacedTime), one.text, share(one.confidence), name(one.reason, "FACT_VERSION_REASON")]),
      ["now", fact.text, share(fact.confidence), fact.validToTime ? `ended ${date(fact.validToTime)}` : "holds"]]),
    fact.contradictions?.length > 0 && [h("h2", null, "Says something else of the same"), fact.contradictions.map((id) => h("p", null, h("a", { href: page.address("facts", { fact: id }) }, id)))],
    h("h2", null, `Evidence (${fact.evidenceCount ?? 0})`),
    episodes.map((one) => h("article", { class: "turn" }, h("header", null, h("b", null, one.speaker || name(one.role, "MESSAGE_ROLE")), h("time", null, moment(one.time)),
      h("a", { href: page.address("timeline", { conversation: one.conversationId }) }, one.conversationId)), h("p", { class: "said", dir: "auto" }, one.query || one.response))),
    episodes.length === 0 && empty("No turn is named.", "The fact was stated by a caller, or its turns are not memories any more."),
  ];
}

/** Confidence over time, as steps with a mark at each change. */
function history(fact) {
  const points = [...(fact.versions ?? []).map((one) => [Date.parse(one.replacedTime), one.confidence ?? 0])];
  const first = Date.parse(fact.firstObservedTime);
  const last = Math.max(Date.parse(fact.lastConfirmedTime), until(fact) ?? Date.now(), ...points.map(([time]) => time), first + 86400000);
  const x = (time) => 50 + (830 * (time - first)) / (last - first);
  const y = (value) => 110 - 90 * value;
  let path = `M ${x(first)} ${y(points[0]?.[1] ?? fact.confidence)}`;
  points.forEach(([time], index) => (path += ` H ${x(time)} V ${y(points[index + 1]?.[1] ?? fact.confidence)}`));
  path += ` H ${x(last)}`;
  return chart(900, 140, `Confidence from ${date(first)} to ${date(last)}, now ${share(fact.confidence)}`,
    [0, 0.5, 1].map((value) => [s("line", { x1: 50, x2: 880, y1: y(value), y2: y(value), class: "axis" }), s("text", { x: 42, y: y(value) + 4, "text-anchor": "end" }, share(value))]),
    s("path", { d: path, fill: "none", stroke: "currentColor", "stroke-width": 2.5, class: "step" }),
    points.map(([time, value]) => s("circle", { cx: x(time), cy: y(value), r: 5, class: "mark" })),
    s("text", { x: 50, y: 132 }, date(first)), s("text", { x: 880, y: 132, "text-anchor": "end" }, date(last)));
}
