// Numbers, times (UTC) and names of enums, for people.

const DAY = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
const DATE = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: "UTC" });
const COUNT = new Intl.NumberFormat();

export const day = (time) => (time ? DAY.format(new Date(time)) : "");
export const date = (time) => (time ? DATE.format(new Date(time)) : "");
export const clock = (time) => (time ? CLOCK.format(new Date(time)) : "");
export const moment = (time) => (time ? `${date(time)}, ${clock(time)}` : "never");
export const count = (number) => COUNT.format(Number(number ?? 0));
export const share = (number) => `${Math.round(100 * (number ?? 0))} %`;
export const score = (number) => (number ?? 0).toFixed(3);

/** "1 turn", "12 turns". */
export const several = (number, one, many = `${one}s`) => `${count(number)} ${Number(number ?? 0) === 1 ? one : many}`;

/** "12.5s" of protobuf as "13 s", "4 h", "7 days". */
export function duration(text) {
  if (!text) return "";
  const seconds = parseFloat(text);
  if (seconds < 1) return `${(seconds * 1000).toFixed(seconds < 0.01 ? 1 : 0)} ms`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} days`;
}

/** "FACT_STATUS_MERGED_INTO" with the prefix "FACT_STATUS" as "merged into". */
export const name = (value, prefix) => (value ?? "").replace(`${prefix}_`, "").replaceAll("_", " ").toLowerCase();

/** Who speaks. */
export const speaker = (turn) => turn?.speaker || name(turn?.role, "MESSAGE_ROLE") || "somebody";

/** Where something may be seen, in words; empty for everywhere. */
export function scope(found) {
  if (!found || found.level === "SCOPE_LEVEL_GLOBAL" || !found.level) return found?.contextId ? `context ${found.contextId}` : "";
  const ids = [found.projectId, found.sessionId, found.taskId].filter(Boolean).join(" / ");
  return `${name(found.level, "SCOPE_LEVEL")} ${ids}${found.contextId ? ` in ${found.contextId}` : ""}`;
}

/** A date of a form, such as "2026-03-01", as the first instant of that day in UTC. */
export const instant = (text) => (text ? `${text}T00:00:00Z` : undefined);
export const instantAfter = (text) => (text ? new Date(Date.parse(`${text}T00:00:00Z`) + 86400000).toISOString() : undefined);
