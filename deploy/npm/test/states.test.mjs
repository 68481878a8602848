// Seeds, states, scripts, webhooks and their inbox, jobs and why, in the words of the server.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { start } from "berth-test";

const CPU = { id: "cpu3g", vcpuCount: 2 };
const POD = { id: "podofthisseed1", name: "seeded", image: "busybox", cpu: CPU };
const PICTURES = {
  name: "pictures",
  type: "QUEUE",
  image: "pictures",
  cpu: [CPU],
  scaling: { type: "QUEUE_DELAY", queueDelay: 1 },
  workers: { min: 1, max: 1 },
};

/** Starts a server that ends with the test. */
async function started(t, options) {
  const berth = await start(options);
  t.after(() => berth.stop());
  return berth;
}

/** Sends a request of a client. */
async function send(berth, method, path, body) {
  const headers = { Authorization: `Bearer ${berth.key}`, "Content-Type": "application/json", Connection: "close" };
  const answer = await fetch(berth.url + path, { method, headers, body: body && JSON.stringify(body) });
  const text = await answer.text();
  assert.ok(answer.ok, text);
  return text ? JSON.parse(text) : undefined;
}

const names = async (berth) => (await send(berth, "GET", "/v2/pods")).pods.map((pod) => pod.name);

test("a seed is there from the start and after a reset", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "test-of-berth-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "seed.yaml"), JSON.stringify({ pods: [POD] }));
  for (const seed of [{ pods: [POD] }, folder]) {
    const berth = await started(t, { seed });
    assert.deepEqual(await names(berth), ["seeded"]);
    await send(berth, "DELETE", "/v2/pods/" + POD.id);
    await berth.reset();
    assert.deepEqual(await names(berth), ["seeded"]);
  }
});

test("a state is saved, listed, loaded and deleted", async (t) => {
  const berth = await started(t, { seed: { pods: [POD] } });
  await berth.states.save("one-pod");
  assert.deepEqual((await berth.states.list()).map((state) => state.name), ["one-pod"]);
  await berth.endpoint("later", () => 1);
  await send(berth, "POST", "/v2/pods", { name: "another", image: "busybox", cpu: CPU });

  await berth.states.load("one-pod");
  assert.deepEqual(await names(berth), ["seeded"]);
  const after = await berth.endpoint("after", () => 2);
  assert.equal((await after.runsync({})).output, 2);
  await berth.states.delete("one-pod");
  assert.deepEqual(await berth.states.list(), []);
  await assert.rejects(berth.states.load("one-pod"), { status: 404 });
});

test("the workers of an endpoint follow a script", async (t) => {
  const berth = await started(t);
  const endpoint = await send(berth, "POST", "/v2/serverless", PICTURES);
  await berth.scripts.set(endpoint, {
    answers: [{ match: [{ pointer: "/prompt", equals: "bad" }], error: "no picture" }, { output: { text: "{{/prompt}}" } }],
  });
  const runsync = (prompt) => send(berth, "POST", `/v2/${endpoint.id}/runsync`, { input: { prompt } });
  assert.deepEqual((await runsync("a cat")).output, { text: "a cat" });
  assert.equal((await runsync("bad")).error, "no picture");
  assert.deepEqual((await berth.scripts.get(endpoint)).used, [1, 1]);
  await berth.scripts.delete(endpoint.id);
  await assert.rejects(berth.scripts.get(endpoint), { status: 404 });
});

test("a webhook comes to the inbox and is delivered again", async (t) => {
  const berth = await started(t);
  const endpoint = await berth.endpoint("done", () => "done");
  assert.deepEqual(await berth.inbox.received("orders"), []);
  const job = await endpoint.run({}, { webhook: berth.inbox.url("orders") });
  await endpoint.statusSync(job);
  await berth.clock.advance(60_000);
  assert.deepEqual((await berth.inbox.received("orders")).map((body) => [body.id, body.output]), [[job.id, "done"]]);
  assert.deepEqual(await berth.inbox.received("others"), []);

  const [delivery] = await berth.webhooks.list();
  assert.deepEqual([delivery.job, delivery.status], [job.id, 204]);
  await berth.webhooks.deliver(delivery);
  await berth.clock.advance(60_000);
  assert.equal((await berth.inbox.received("orders")).length, 2);
  assert.equal((await berth.webhooks.list()).length, 2);
});

test("a body comes out of the inbox whole or not at all", async (t) => {
  const berth = await started(t);
  const post = async (name, body) => { // what is refused is in the journal all the same
    const answer = await fetch(berth.inbox.url(name), { method: "POST", headers: { "Content-Type": "application/json", Connection: "close" }, body });
    await answer.text();
  };
  const latin = Buffer.from('"caf\u00e9"', "latin1");
  await post("latin", latin);
  assert.deepEqual(await berth.inbox.received("latin"), [latin]);
  await post("long", JSON.stringify({ output: "x".repeat(70_000) }));
  await assert.rejects(berth.inbox.received("long"), /first 64 KiB of a body, and this one had 70013 bytes/);

  for (let n = 0; n < 520; n++) await post("many", JSON.stringify({ output: "x".repeat(65_000) })); // which are more than 32 MiB
  await assert.rejects(berth.inbox.received("many"), /forgot \d+ older requests/);
  await berth.journal.clear();
  assert.deepEqual(await berth.inbox.received("many"), []);
});

test("workers of an endpoint without a function follow its script", async (t) => {
  const berth = await started(t);
  await berth.clock.freeze();
  const endpoint = await berth.endpoint("pictures", undefined, { workers: { min: 1, max: 1 } });
  await berth.scripts.set(endpoint, { answers: [{ output: "{{/prompt}}" }] });
  await endpoint.run({ prompt: "a cat" }, { webhook: berth.inbox.url("orders") });
  await berth.clock.advance(60_000);
  assert.deepEqual((await berth.inbox.received("orders")).map((body) => body.output), ["a cat"]);
  await berth.webhooks.deliver((await berth.webhooks.list())[0]);
  await berth.clock.advance(60_000);
  assert.equal((await berth.inbox.received("orders")).length, 2);
  await assert.rejects(berth.endpoint("mine", () => 1, { workers: { min: 1, max: 1 } }), /workers of a function are a number/);
});

test("a key that could not be made is asked for again", async (t) => {
  const berth = await started(t);
  await berth.control("PUT", "/storage", { state: "full" });
  await assert.rejects(berth.endpoint("idle"));
  await berth.control("PUT", "/storage", { state: "writable" });
  const { id } = await berth.endpoint("idle");
  assert.equal((await berth.why.endpoint(id)).waits, false);
});

test("jobs are listed and say why they wait", async (t) => {
  const berth = await started(t);
  const endpoint = await berth.endpoint("idle");
  const ids = [];
  for (const n of [0, 1, 2]) ids.push((await endpoint.run({ n })).id);
  const listed = async (filters) => (await berth.jobs.list(filters)).map((job) => job.id);
  assert.deepEqual(await listed({ endpointId: endpoint.id, status: "IN_QUEUE" }), ids.toReversed());
  assert.deepEqual(await listed({ limit: 1 }), ids.slice(2));
  assert.deepEqual(await listed({ from: new Date("2099-01-01") }), []);
  assert.equal((await berth.jobs.get(ids[0])).input.text, '{"n":0}');
  assert.equal((await berth.why.job({ id: ids[0] })).reason, "no_workers");
  assert.equal((await berth.why.endpoint(endpoint)).reason, "no_workers");

  const pod = await send(berth, "POST", "/v2/pods", { name: "p", image: "busybox", cpu: CPU });
  await berth.clock.advance(3_600_000);
  assert.equal((await berth.why.pod(pod)).reason, "running");
  await assert.rejects(berth.why.job("none"), { status: 404 });
});
