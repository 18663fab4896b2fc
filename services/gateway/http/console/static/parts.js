// Parts that several pages are made of.

import { CallError, newRequestId } from "./api.js";
import { h, put, s } from "./dom.js";
import { count, scope as scopeText } from "./format.js";

/** A heading with the role that the page needs. */
export const heading = (title, role, text) =>
  h("div", { class: "heading" }, h("h1", { tabindex: "-1" }, title), h("span", { class: "role", title: "The role that a key needs for this page" }, `needs ${role}`), h("p", null, text));

export const badge = (text, kind = "") => text && h("span", { class: `badge ${kind}` }, text);
export const scopeBadge = (scope) => badge(scopeText(scope), "scope");
/** Whether a turn, an episode or a note still holds, as far as it is known. */
export const markBadges = (one, isNote = false) => [
  one.supersededBy && badge(!isNote && (one.supersededStatements ?? []).some((part) => !part.wholeTurn) ? "superseded in part" : "superseded", "warn"),
  one.marksMissing && badge("whether it is superseded is not known", "warn"),
];
export const empty = (title, text) => h("div", { class: "empty" }, h("strong", null, title), text && h("p", null, text));
export const waiting = () => h("div", { class: "waiting", "aria-busy": "true" }, "Loading …");
export const identifier = (text) => h("code", { class: "id", title: text }, text);

/** A share from 0 to 1 as a small bar with its number. */
export function meter(label, value) {
  const bar = h("i");
  bar.style.width = `${100 * Math.max(0, Math.min(1, value ?? 0))}%`;
  return h("span", { class: "meter", title: `${label} ${(value ?? 0).toFixed(2)}` }, h("small", null, label), h("b", null, bar), h("small", null, (value ?? 0).toFixed(2)));
}

const ADVICE = {
  permission_denied: "Your key's role does not allow this. Sign in with a key of the role named above.",
  unauthenticated: "Sign in with an API key.",
  unavailable: "Is the gateway running, and can this browser reach it?",
  resource_exhausted: "A limit was reached. Try again a little later.",
};

/** What failed, why, and a way to try again. An error of the page itself is shown as well, and is in the browser's log. */
export function failure(thrown, retry) {
  if (!(thrown instanceof CallError)) console.error(thrown);
  const error = thrown instanceof CallError ? thrown : new CallError("internal", `This page failed: ${thrown}`, "", "");
  return h("div", { class: "failure", role: "alert" },
    h("strong", null, error.code.replaceAll("_", " ")),
    h("p", null, error.message),
    ADVICE[error.code] && h("p", null, ADVICE[error.code]),
    h("p", { class: "quiet" }, error.method, error.requestId && ` · request ${error.requestId}`),
    retry && h("button", { type: "button", onclick: retry }, "Try again"));
}

/** Puts what `load` returns into an element; shows waiting, and failures with a way to try again. */
export async function into(element, page, load) {
  put(element, waiting());
  try {
    const content = await load();
    if (!page.signal.aborted) put(element, content);
  } catch (error) {
    if (page.signal.aborted) return;
    put(element, failure(error, () => into(element, page, load)));
  }
}

/** A list that loads page after page. `load(token)` returns {items, next}, `show(items)` elements; `all` says what was the end. */
export function paged(page, { load, show, none, more = "Load more", all = "all there is" }) {
  const list = h("div", { class: "list" });
  const end = h("div", { class: "end" });
  let total = 0;
  const next = async (token) => {
    put(end, waiting());
    try {
      const { items, next: following } = await load(token);
      if (page.signal.aborted) return;
      total += items.length;
      const shown = [show(items)].flat(Infinity).filter(Boolean);
      list.append(...shown);
      if (token && shown[0]) focusOn(shown[0]);
      if (total === 0 && !following) return void put(end, none);
      const button = following && h("button", { type: "button", onclick: () => next(following) }, more);
      put(end, button, h("span", { class: "quiet" }, `${count(total)} shown${following ? "" : `, ${all}`}`));
    } catch (error) {
      if (!page.signal.aborted) put(end, failure(error, () => next(token)));
    }
  };
  next("");
  return h("div", null, list, end);
}

function focusOn(element) {
  element.tabIndex = -1;
  element.focus({ preventScroll: true });
}

/** A table whose rows become cards on a narrow screen. Cells are nodes or text. */
export function table(headings, rows, caption) {
  return h("table", null, caption && h("caption", null, caption),
    h("thead", null, h("tr", null, headings.map((text) => h("th", { scope: "col" }, text)))),
    h("tbody", null, rows.map((cells) => h("tr", null, cells.map((cell, index) => h("td", { "data-label": headings[index] }, cell))))));
}

/** Says something for a few seconds. */
export function notice(text) {
  const element = h("div", { class: "notice" }, text);
  document.getElementById("notices").append(element);
  setTimeout(() => element.remove(), 8000);
}

/**
 * A button for something that changes what is stored: it shows what would happen and asks again.
 * `act(requestId)` is called after the second yes; a repeat after a failure has the same request id.
 */
export function changing(label, { title, text, yes, act, kind = "" }) {
  return h("button", { type: "button", class: kind, onclick: () => ask({ title, text: typeof text === "function" ? text() : text, yes, act, kind }) }, label);
}

function ask({ title, text, yes, act, kind }) {
  const requestId = newRequestId();
  const problem = h("div");
  const cancel = h("button", { type: "button", autofocus: true, onclick: () => dialog.close() }, "Cancel");
  const confirm = h("button", { type: "button", class: `primary ${kind}`, onclick: run }, yes);
  const dialog = h("dialog", { "aria-label": title, onclose: () => dialog.remove() },
    h("h2", null, title), h("p", null, text), problem, h("div", { class: "actions" }, cancel, confirm));
  async function run() {
    confirm.disabled = true;
    try {
      await act(requestId);
      dialog.close();
    } catch (error) {
      confirm.disabled = false;
      if (dialog.open) put(problem, failure(error));
      else notice(`${title} It failed: ${error.message}`);
    }
  }
  document.body.append(dialog);
  dialog.showModal();
}

/** A labelled field of a form. */
export const field = (label, control, hint) => h("label", { class: "field" }, h("span", null, label), control, hint && h("small", null, hint));

/** A choice; options are [value, label]. */
export const choice = (attributes, options, chosen) =>
  h("select", attributes, options.map(([value, label]) => h("option", { value, selected: value === chosen }, label)));

/** A row of links, one of them current. */
export const tabs = (label, items) =>
  h("nav", { class: "tabs", "aria-label": label }, items.map(([href, text, isCurrent]) => h("a", { href, "aria-current": isCurrent ? "page" : null }, text)));

/** A chart as SVG with a text for those who do not see it. */
export const chart = (width, height, label, ...children) =>
  h("div", { class: "scroll" }, s("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": label, class: "chart" }, ...children));
