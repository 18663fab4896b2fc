// Notes, and the graph of the links around one.

import { inParallel } from "../api.js";
import { h, s } from "../dom.js";
import { layout } from "../layout.js";
import { date, name } from "../format.js";
import { badge, chart, choice, empty, field, heading, into, markBadges, meter, paged, scopeBadge, table } from "../parts.js";

const KINDS = ["FACT", "CONCEPT", "PROCEDURE", "OBSERVATION", "PREFERENCE"].map((one) => `NOTE_KIND_${one}`);
const NEAR_MAX = 14;
const FAR_MAX = 6;
const FOUND_MAX = 50;
const SIZE = { width: 900, height: 560 };

export async function render(page) {
  const { parameters } = page;
  const chosen = parameters.get("note");
  const graph = h("div");
  if (chosen) into(graph, page, () => around(page, chosen));
  else graph.append(empty("Choose a note.", "Its links, and the links of what it is linked to, are drawn here."));
  const query = parameters.get("q") ?? "";
  return [
    heading("Notes", "reader", "What was worth keeping, and how it hangs together."),
    h("form", { class: "filters", onsubmit: (event) => {
      event.preventDefault();
      page.go({ note: "", ...Object.fromEntries(new FormData(event.target)) });
    } },
      field("Find", h("input", { id: "query", type: "search", name: "q", value: query, maxlength: "8000" })),
      field("Kind", choice({ name: "kind" }, [["", "any"], ...KINDS.map((kind) => [kind, name(kind, "NOTE_KIND")])], parameters.get("kind") ?? "")),
      h("button", { type: "submit" }, "Show")),
    h("div", { class: "split" }, h("div", null, list(page, query, chosen)), graph),
  ];
}

const list = (page, query, chosen) => paged(page, {
  load: async (pageToken) => {
    if (query) {
      const found = await page.call("agentic.v1.NoteService/SearchNotes", { userId: page.user, query, limit: FOUND_MAX });
      const kind = page.parameters.get("kind");
      return { items: (found.hits ?? []).map((hit) => hit.note).filter((note) => !kind || note.kind === kind), next: "" };
    }
    const found = await page.call("agentic.v1.NoteService/ListNotes", { userId: page.user, kind: page.parameters.get("kind") || undefined, pageSize: 50, pageToken });
    return { items: found.notes ?? [], next: found.nextPageToken };
  },
  show: (notes) => notes.map((note) => h("a", { class: "row", href: to(page, note.noteId), "aria-current": note.noteId === chosen ? "true" : null },
    h("span", { class: "said", dir: "auto" }, note.content), h("small", null, `${name(note.kind, "NOTE_KIND")} · ${date(note.time)} `, markBadges(note, true)))),
  none: empty(query ? `None of the ${FOUND_MAX} notes nearest to this is of that kind, or there are none.` : "No notes."),
  all: query ? `of the ${FOUND_MAX} nearest` : undefined,
});

const to = (page, note) => page.address("notes", { q: page.parameters.get("q"), kind: page.parameters.get("kind"), note });
const other = (link, id) => (link.fromNoteId === id ? link.toNoteId : link.fromNoteId);
const read = (page, noteId) => page.call("agentic.v1.NoteService/GetNote", { userId: page.user, noteId });

async function around(page, id) {
  const centre = await read(page, id);
  const near = (centre.links ?? []).slice(0, NEAR_MAX);
  const found = await inParallel([...new Set(near.map((link) => other(link, id)))], 6, (noteId) => read(page, noteId));
  const notes = new Map([[id, { ...centre.note, ring: 0 }], ...found.map((one) => [one.note.noteId, { ...one.note, ring: 1 }])]);
  const links = new Map();
  const add = (link) => links.set(`${link.fromNoteId} ${link.toNoteId} ${link.type}`, link);
  near.forEach(add);
  for (const one of found) {
    for (const link of (one.links ?? []).slice(0, FAR_MAX)) {
      const far = other(link, one.note.noteId);
      if (!notes.has(far)) notes.set(far, { noteId: far, ring: 2 });
      add(link);
    }
  }
  const far = [...notes.values()].filter((note) => note.ring === 2);
  await inParallel(far, 6, async (note) => Object.assign(note, (await read(page, note.noteId)).note));
  const { note } = centre;
  return [
    h("article", { class: "turn" }, h("p", { class: "said", dir: "auto" }, note.content),
      h("footer", null, badge(name(note.kind, "NOTE_KIND")), markBadges(note, true), scopeBadge(note.scope), meter("importance", note.importance), date(note.time), (note.keywords ?? []).slice(0, 6).map((word) => badge(word)))),
    draw(page, id, [...notes.values()], [...links.values()]),
    h("div", { class: "legend" }, KINDS.map((kind, index) => h("span", null, s("svg", { viewBox: "0 0 12 12", "aria-hidden": "true" }, s("circle", { cx: 6, cy: 6, r: 6, class: `k${index}` })), " ", name(kind, "NOTE_KIND"))), h("span", null, "dashed: contradicts")),
    near.length > 0 ? table(["Linked note", "How", "Strength", "Made by"], near.map((link) => [
      h("a", { href: to(page, other(link, id)) }, notes.get(other(link, id)).content), name(link.type, "LINK_TYPE"), (link.strength ?? 0).toFixed(2), name(link.origin, "LINK_ORIGIN")]))
      : empty("This note has no links."),
    centre.links?.length > NEAR_MAX && h("p", { class: "quiet" }, `The ${NEAR_MAX} strongest of ${centre.links.length} links are shown.`),
  ];
}

function draw(page, centre, notes, links) {
  const places = layout(notes.map((note) => ({ id: note.noteId, ring: note.ring })), links.map((link) => [link.fromNoteId, link.toNoteId]), SIZE);
  return chart(SIZE.width, SIZE.height, `Graph of ${notes.length} notes and ${links.length} links; the table below lists the links of the note in the middle`,
    links.map((link) => {
      const [from, end] = [places.get(link.fromNoteId), places.get(link.toNoteId)];
      return s("line", { x1: from.x, y1: from.y, x2: end.x, y2: end.y, "stroke-width": 1 + 3 * (link.strength ?? 0), class: `link ${name(link.type, "LINK_TYPE")}` }, s("title", null, `${name(link.type, "LINK_TYPE")} ${(link.strength ?? 0).toFixed(2)}`));
    }),
    notes.map((note) => {
      const { x, y } = places.get(note.noteId);
      const text = note.content ?? "";
      const short = text.length > 26 ? `${text.slice(0, 25)}…` : text;
      return s("a", { href: to(page, note.noteId), "aria-label": text },
        s("title", null, text),
        s("circle", { cx: x, cy: y, r: 7 + 7 * (note.importance ?? 0.5), class: `k${Math.max(0, KINDS.indexOf(note.kind))} ${note.noteId === centre ? "centre" : ""}` }),
        note.ring < 2 && s("text", { x, y: y + 26, "text-anchor": "middle", class: note.ring === 0 ? "strong" : "" }, short));
    }));
}
