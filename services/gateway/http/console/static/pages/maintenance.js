// Jobs that look after memories, and what their runs changed of a user, with undo.

import { h, put } from "../dom.js";
import { count, duration, moment, several } from "../format.js";
import { badge, changing, empty, heading, identifier, into, notice, paged, table } from "../parts.js";

const SERVICE = "gateway.v1.MaintenanceService";
const CHANGES_PAGE = 50;

export async function render(page) {
  const runId = page.parameters.get("run");
  if (runId && page.user) return runDetail(page, runId);
  const jobs = h("div");
  const outcome = h("div", { "aria-live": "polite" });
  into(jobs, page, () => jobTable(page, outcome));
  return [
    heading("Maintenance", "reader; writer to run and undo; admin to resume", "What looks after memories by itself, what it changed, and how to take that back."),
    h("h2", null, "Jobs"), jobs, outcome,
    h("h2", null, page.user ? `Runs that changed something of ${page.user}` : "Runs"),
    page.user ? runs(page) : empty("Choose a user above.", "Runs are listed, started and taken back for one user."),
  ];
}

async function jobTable(page, outcome) {
  const { jobs = [], unavailableTiers = [] } = await page.call(`${SERVICE}/GetJobs`);
  return [
    unavailableTiers.length > 0 && h("p", { class: "problem" }, `Did not respond: ${unavailableTiers.join(", ")}.`),
    table(["Job", "Every", "Last complete", "State", ""], jobs.map((job) => [
      [h("b", null, job.name), h("br"), h("small", null, job.description)], duration(job.interval) || "as needed", moment(job.completeTime),
      job.stopped ? badge("stopped", "bad") : job.failureCount ? badge(`${several(job.failureCount, "failure")}`, "warn") : badge("well", "good"),
      h("span", null, job.stopped && resume(page, job), job.forUser && page.user && h("button", { type: "button", onclick: () => tryJob(page, job, outcome) }, "What would it do?"))])),
  ];
}

const resume = (page, job) => changing("Resume", {
  title: `Resume ${job.name}?`, yes: "Yes, resume", text: `It failed ${count(job.failureCount)} times and stopped. It is scheduled again, for all tenants.`,
  act: async (requestId) => {
    await page.call(`${SERVICE}/ResumeJob`, { requestId, job: job.name });
    notice("Resumed.");
    page.show();
  },
});

/** A dry run first; what it reports is what the second question is about. */
function tryJob(page, job, outcome) {
  into(outcome, page, async () => {
    const { run = {}, changes = [] } = await page.call(`${SERVICE}/RunJob`, { userId: page.user, job: job.name, dryRun: true });
    const planned = run.plannedCount ?? 0;
    return h("section", { class: "turn" }, h("h2", null, `${job.name} for ${page.user}`),
      run.busy ? h("p", { class: "problem" }, "Another run of this job for this user is under way: nothing was looked at. Try again in a moment.") : h("p", null, `Looked at ${several(run.memoryCount, "memory", "memories")}: ${several(planned, "change")}, ${count(run.retiredCount)} taken out of use${run.overCapCount ? `, ${count(run.overCapCount)} more held back by the cap` : ""}.`),
      changesTable(changes.slice(0, CHANGES_PAGE)),
      planned > CHANGES_PAGE && changes.length > 0 && h("p", { class: "quiet" }, `The first ${count(Math.min(CHANGES_PAGE, changes.length))} of ${count(planned)}.`),
      h("div", { class: "actions" }, planned > 0 && changing("Run it", {
        title: `Run ${job.name}?`, yes: "Yes, run it", text: `About ${several(planned, "change")} to the memory of ${page.user}. The run can be taken back here.`,
        act: async (requestId) => {
          const done = await page.call(`${SERVICE}/RunJob`, { requestId, userId: page.user, job: job.name });
          notice(`${several(done.run?.appliedCount, "change")} made.`);
          page.show();
        },
      }), h("button", { type: "button", onclick: () => put(outcome) }, "Close")));
  });
  outcome.scrollIntoView({ block: "nearest" });
}

const changesTable = (changes) => changes.length > 0 && table(["Change", "Memory", "Details"],
  changes.map((one) => [one.action, identifier(one.target), h("code", null, one.facts ?? "")]));

const runs = (page) => paged(page, {
  load: async (pageToken) => {
    const found = await page.call(`${SERVICE}/ListRuns`, { userId: page.user, pageSize: 50, pageToken });
    return { items: found.runs ?? [], next: found.nextPageToken };
  },
  show: (items) => items.map((run) => h("a", { class: "row", href: page.address("maintenance", { run: run.runId }) },
    h("b", null, run.job, " ", run.undone && badge("taken back", "warn")), h("span", null, several(run.appliedCount, "change")), h("span", { class: "quiet" }, moment(run.createTime)))),
  none: empty("No run has changed anything of this user."),
});

async function runDetail(page, runId) {
  const read = (pageToken) => page.call(`${SERVICE}/GetRun`, { userId: page.user, runId, pageSize: CHANGES_PAGE, pageToken });
  const first = await read("");
  const { run } = first;
  return [
    heading(run.job, "reader; writer to undo", h("a", { href: page.address("maintenance") }, "all jobs and runs")),
    h("p", null, `${several(run.appliedCount, "change")}, ${count(run.retiredCount)} taken out of use, ${moment(run.createTime)} `, run.undone && badge("taken back", "warn")),
    !run.undone && h("div", { class: "actions" }, changing("Undo", {
      kind: "danger", title: "Take this run back?", yes: "Yes, undo it", text: `${several(run.appliedCount, "change")} of ${run.job} to the memory of ${page.user}. What was changed since stays as it is.`,
      act: async (requestId) => {
        const { undoneCount } = await page.call(`${SERVICE}/UndoRun`, { requestId, userId: page.user, runId });
        notice(`${several(undoneCount, "change")} taken back.`);
        page.show();
      },
    })),
    paged(page, {
      load: async (pageToken) => {
        const found = pageToken ? await read(pageToken) : first;
        return { items: found.changes ?? [], next: found.nextPageToken };
      },
      show: changesTable,
      none: empty("It changed nothing."),
    }),
  ];
}
