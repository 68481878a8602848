// The unmodified JavaScript client: run, runSync, status, stream, cancel, health, purgeQueue.
// usage: node client.mjs BASE_URL KEY ENDPOINT STREAM IDLE
import assert from "node:assert/strict";
import runpodSdk from "runpod-sdk";

const [baseUrl, key, busy, streaming, idle] = process.argv.slice(2);
const sdk = runpodSdk(key, { baseUrl });
const patience = 60_000; // milliseconds: without it the client gives a call up after three seconds
const endpoint = sdk.endpoint(busy);

const result = await endpoint.runSync({ input: { n: 1 } });
assert.equal(result.status, "COMPLETED");
assert.ok(JSON.stringify(result.output).includes('"n":1'), JSON.stringify(result));

const job = await endpoint.run({ input: { n: 2 } }, patience);
assert.equal(job.status, "IN_QUEUE");
let status;
do {
  status = await endpoint.status(job.id, patience);
} while (!status.completed);
assert.equal(status.status, "COMPLETED");

const values = [1, "two", { three: [3] }];
const streamed = await sdk.endpoint(streaming).run({ input: { values, sleep: 0.7 } }, patience);
const got = [];
for await (const chunk of sdk.endpoint(streaming).stream(streamed.id)) got.push(chunk.output);
assert.deepEqual(got, values);

const waiting = sdk.endpoint(idle);
const held = await waiting.run({ input: { n: 3 } }, patience);
assert.equal((await waiting.status(held.id, patience)).status, "IN_QUEUE");
assert.ok((await waiting.health(patience)).jobs.inQueue >= 1);
assert.equal((await waiting.cancel(held.id, patience)).status, "CANCELLED");
assert.equal((await waiting.status(held.id, patience)).status, "CANCELLED");
await waiting.run({ input: { n: 4 } }, patience);
const purged = await waiting.purgeQueue(patience);
assert.deepEqual([purged.removed, purged.status], [1, "completed"], JSON.stringify(purged));
await assert.rejects(sdk.endpoint("nosuchendpoint").run({ input: {} }, patience));
console.log("ok: javascript client");
