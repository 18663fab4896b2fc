// The console: signs in, shows pages by the address behind "#", and remembers whose memory is looked at.

import { CallError, call, hasKey, needsKey, useKey } from "./api.js";
import { h, put } from "./dom.js";
import { failure, field, heading, waiting } from "./parts.js";

const PAGES = [
  { id: "timeline", title: "Timeline", ofUser: true },
  { id: "search", title: "Search", ofUser: true },
  { id: "facts", title: "Facts", ofUser: true },
  { id: "conflicts", title: "Conflicts", ofUser: true },
  { id: "notes", title: "Notes", ofUser: true },
  { id: "maintenance", title: "Maintenance" },
  { id: "deliveries", title: "Deliveries" },
  { id: "erasures", title: "Erasures" },
  { id: "audit", title: "Audit" },
];

const main = document.getElementById("main");
let leaving = new AbortController();
let isOpen = false; // whether the gateway takes calls without a key

/** What the address says: the page, and its parameters. */
function place() {
  const [id, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  return { id: PAGES.some((page) => page.id === id) ? id : "timeline", parameters: new URLSearchParams(query) };
}

/** The address of a page; parameters without a value are left out. */
function address(id, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value) query.set(name, value);
  return `#/${id}${query.size ? `?${query}` : ""}`;
}

/** Shows a place; the present one is read again. */
function goTo(target) {
  if (location.hash === target) show();
  else location.hash = target;
}

async function show() {
  leaving.abort();
  leaving = new AbortController();
  const { id, parameters } = place();
  const chosen = PAGES.find((page) => page.id === id);
  const user = parameters.get("user") ?? "";
  const { signal } = leaving;
  showTop(id, user);
  document.title = `${chosen.title}${user ? ` of ${user}` : ""} · Mneme console`;
  if (chosen.ofUser && !user) return void put(main, welcome());
  put(main, waiting());
  const page = {
    user,
    parameters,
    signal,
    call: (method, request) => call(method, request, { signal }),
    address: (target, more = {}) => address(target, { user, ...more }),
    go: (more) => goTo(address(id, { ...Object.fromEntries(parameters), ...more })),
    show,
  };
  try {
    const { render } = await import(`./pages/${id}.js`);
    const content = await render(page);
    if (signal.aborted) return;
    put(main, content);
    main.querySelector("h1")?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof CallError && error.code === "unauthenticated") return void signIn(error.message);
    put(main, failure(error, show));
  }
}

function showTop(current, user) {
  const input = h("input", { id: "user", name: "user", value: user, placeholder: "user id", maxlength: "128", autocomplete: "off", spellcheck: "false", autocapitalize: "off" });
  const form = h("form", { class: "whose", role: "search", onsubmit: (event) => {
    event.preventDefault();
    goTo(address(current, { user: input.value.trim() }));
  } }, h("label", { for: "user" }, "Memory of"), input, h("button", { type: "submit" }, "Open"));
  const out = hasKey() && h("button", { type: "button", class: "plain", onclick: () => {
    useKey("", false);
    signIn("");
  } }, "Sign out");
  put(document.getElementById("top"), h("a", { class: "brand", href: "#/timeline" }, h("img", { src: "icon.svg", alt: "", width: "26", height: "26" }), "Mneme"), form,
    out || (isOpen && h("span", { class: "quiet open", title: "The gateway runs in development mode and asks for no key" }, "no key needed")));
  put(document.getElementById("pages"), PAGES.map((page) => h("a", { href: address(page.id, { user }), "aria-current": page.id === current ? "page" : null }, page.title)), h("small", { class: "zone" }, "Times are UTC."));
  document.querySelector("#pages [aria-current]").scrollIntoView({ block: "nearest", inline: "center" });
}

function welcome() {
  return h("div", { class: "empty" }, h("strong", null, "Whose memory?"),
    h("p", null, "Type the id of a user above: the one that your application passes as user_id. ", h("kbd", null, "/"), " goes there."));
}

function signIn(problem) {
  leaving.abort();
  put(document.getElementById("top"), h("span", { class: "brand" }, h("img", { src: "icon.svg", alt: "", width: "26", height: "26" }), "Mneme"));
  put(document.getElementById("pages"));
  const input = h("input", { type: "password", name: "key", autocomplete: "off", required: true, placeholder: "mn_…", id: "key" });
  const kept = h("input", { type: "checkbox", name: "keep" });
  const said = h("div", { role: "alert" }, problem && h("p", { class: "problem" }, problem));
  const form = h("form", { class: "signin", onsubmit: async (event) => {
    event.preventDefault();
    useKey(input.value.trim(), kept.checked);
    try {
      await call("gateway.v1.DeliveryService/GetBacklog");
      show();
    } catch (error) {
      useKey("", false);
      put(said, failure(error));
      input.focus();
    }
  } }, heading("Sign in", "reader", "With an API key, as programs have it, or a token of your identity provider."),
    field("API key", input), h("label", { class: "check" }, kept, "Keep it until this tab is closed"), said,
    h("div", { class: "actions" }, h("button", { type: "submit", class: "primary" }, "Sign in")),
    h("p", { class: "quiet" }, "The key stays in this tab. What you may see and change follows from its role."));
  put(main, form);
  input.focus();
}

function onKey(event) {
  const isTyping = event.target.closest?.("input, select, textarea, dialog");
  if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
    const target = document.getElementById("query") ?? document.getElementById("user");
    if (!target) return;
    event.preventDefault();
    target.focus();
    target.select();
  }
}

async function start() {
  window.addEventListener("hashchange", show);
  document.addEventListener("keydown", onKey);
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
  });
  put(main, waiting());
  if (!hasKey() && await needsKey()) return void signIn("");
  try {
    await call("gateway.v1.DeliveryService/GetBacklog");
    isOpen = !hasKey();
    show();
  } catch (error) {
    if (error instanceof CallError && error.code === "unauthenticated") signIn(hasKey() ? error.message : "");
    else show();
  }
}

start();
