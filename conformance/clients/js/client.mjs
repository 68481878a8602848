// The unmodified JavaScript client: run, runSync, status, cancel, health.
// usage: node client.mjs BASE_URL KEY ENDPOINT IDLE
import assert from "node:assert/strict";
import runpodSdk from "runpod-sdk";

const [baseUrl, key, busy, idle] = process.argv.slice(2);
const sdk = runpodSdk(key, { baseUrl });
const endpoint = sdk.endpoint(busy);

const result = await endpoint.runSync({ input: { n: 1 } });
assert.equal(result.status, "COMPLETED");
assert.ok(JSON.stringify(result.output).includes('"n":1'), JSON.stringify(result));

const job = await endpoint.run({ input: { n: 2 } });
assert.equal(job.status, "IN_QUEUE");
let status;
do {
  status = await endpoint.status(job.id);
} while (!status.completed);
assert.equal(status.status, "COMPLETED");

const waiting = sdk.endpoint(idle);
const held = await waiting.run({ input: { n: 3 } });
assert.equal((await waiting.status(held.id)).status, "IN_QUEUE");
assert.ok((await waiting.health()).jobs.inQueue >= 1);
assert.equal((await waiting.cancel(held.id)).status, "CANCELLED");
assert.equal((await waiting.status(held.id)).status, "CANCELLED");
await assert.rejects(sdk.endpoint("nosuchendpoint").run({ input: {} }));
console.log("ok: javascript client");
