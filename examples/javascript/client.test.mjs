// Tests of code that uses the runpod-sdk package, which is as it comes from its registry.
import assert from "node:assert/strict";
import { test } from "node:test";
import runpodSdk from "runpod-sdk";
import { startBerth } from "./berth.mjs";

const patience = 60_000; // milliseconds: the package gives a call up after three seconds, which a busy machine may take

const connect = (berth, name) => runpodSdk(berth.key, { baseUrl: berth.queueUrl + "/v2" }).endpoint(berth.endpoints[name]);

test("a job gives its output", async (t) => {
  const berth = await startBerth(t);
  const job = await connect(berth, "echo").runSync({ input: { hello: "berth" } });
  assert.equal(job.status, "COMPLETED");
  assert.deepEqual(job.output, { hello: "berth" });
});

test("a job that nobody takes times out after a day", async (t) => {
  const berth = await startBerth(t, { idle: "" });
  const before = await berth.clock.freeze();
  const endpoint = connect(berth, "idle");
  const { id } = await endpoint.run({ input: { n: 1 } }, patience);
  assert.equal((await endpoint.status(id, patience)).status, "IN_QUEUE");
  await berth.clock.advance(24 * 60 * 60 * 1000);
  assert.equal((await endpoint.status(id, patience)).status, "TIMED_OUT");
  assert.equal((await berth.clock.now()) - before, 24 * 60 * 60 * 1000);
});
