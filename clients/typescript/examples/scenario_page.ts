// The scenario for a page in a browser, which calls `runScenario`. `npm run bundle` makes one script of it.

import { connect } from "@mneme-ai/client/web";

import { Scenario, type Step } from "./scenario_calls.js";

/** The transcript of the calls of clients/scenario.json for a user, with an API key where one is needed. */
async function runScenario(baseUrl: string, apiKey: string | undefined, steps: Step[], user: string): Promise<string> {
  const client = connect(baseUrl, apiKey === undefined ? {} : { apiKey });
  const lines: string[] = [];
  for await (const line of new Scenario(client, user).run(steps)) lines.push(`${line}\n`);
  return lines.join("");
}

Object.assign(window, { runScenario });
