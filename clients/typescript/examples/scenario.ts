// Makes the calls of clients/scenario.json for a user and prints a transcript.
//
// Usage: node dist/examples/scenario.js grpc|web address scenario.json user

import { readFileSync } from "node:fs";

import { connect as connectGrpc } from "@mneme-ai/client/node";
import { connect as connectWeb } from "@mneme-ai/client/web";

import { Scenario, type Step } from "./scenario_calls.js";

const [protocol, address = "", file = "", user = ""] = process.argv.slice(2);
const client = protocol === "web" ? connectWeb(`http://${address}`) : connectGrpc(address);
const steps = JSON.parse(readFileSync(file, "utf-8")) as Step[];
for await (const line of new Scenario(client, user).run(steps)) console.log(line);
client.close();
