// Endpoints of functions, as a client of the queue sees them. One server, which is reset.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { start } from "berth-test";

let berth;
before(async () => {
  berth = await start({ args: ["--endpoint", "declared="] });
});
afterEach(() => berth.reset());
after(() => berth.stop());

/** Gives a promise and what resolves it. */
function event() {
  let happen;
  const happened = new Promise((resolve) => (happen = resolve));
  return { happen, happened };
}

test("a function gives the output", async () => {
  const endpoint = await berth.endpoint("upper", async (job) => ({ upper: job.input.text.toUpperCase(), id: job.id }));
  const job = await endpoint.runsync({ text: "hello" });
  assert.deepEqual([endpoint.name, job.status, job.output], ["upper", "COMPLETED", { upper: "HELLO", id: job.id }]);
});

for (const output of [true, 7, "text", [1, null], { a: { b: 1 } }, new Date(0)]) {
  test(`an output is any JSON: ${JSON.stringify(output)}`, async () => {
    const endpoint = await berth.endpoint("mine", () => output);
    assert.deepEqual((await endpoint.runsync({})).output, JSON.parse(JSON.stringify(output)));
  });
}

test("nothing is an output too", async () => {
  const endpoint = await berth.endpoint("mine", () => {});
  assert.equal((await endpoint.runsync({})).status, "COMPLETED");
});

test("a function that throws fails the job as the official SDK reports it", async () => {
  const endpoint = await berth.endpoint("mine", () => {
    throw new RangeError("no such model");
  });
  const job = await endpoint.runsync({});
  assert.equal(job.status, "FAILED");
  const error = JSON.parse(job.error);
  assert.deepEqual([error.error_type, error.error_message], ["RangeError", "no such model"]);
  assert.match(error.error_traceback, /endpoints\.test\.mjs/);
  assert.deepEqual(Object.keys(error), ["error_type", "error_message", "error_traceback", "hostname", "worker_id", "runpod_version"]);
});

test("an output with an error fails the job and keeps the rest", async () => {
  const job = await (await berth.endpoint("mine", () => ({ error: "too warm", part: 1 }))).runsync({});
  assert.deepEqual([job.status, job.error, job.output], ["FAILED", "too warm", { part: 1 }]);
});

const circle = {};
circle.again = circle;
const noJSON = { "a function": () => {}, "a BigInt": { n: 1n }, "a circle": circle };
for (const [name, value] of Object.entries(noJSON)) {
  test(`what is no JSON fails the job as an output, an error and progress: ${name}`, async () => {
    const gives = [() => value, () => ({ error: value }), (job, { progress }) => progress(value)];
    for (const handler of gives) {
      const job = await (await berth.endpoint("mine", handler)).runsync({});
      assert.equal(job.status, "FAILED");
      const error = JSON.parse(job.error);
      assert.equal(error.error_type, "TypeError");
      assert.match(error.error_message, /JSON|BigInt|circular/);
    }
  });
}

test("generators stream, plain and async", async () => {
  const plain = await berth.endpoint("plain", function* (job) {
    for (let n = 0; n < job.input.to; n++) yield n;
  });
  const asynchronous = await berth.endpoint("async", async function* (job) {
    for (let n = 0; n < job.input.to; n++) yield { n };
  });
  assert.deepEqual(await plain.stream(await plain.run({ to: 3 })), [0, 1, 2]);
  assert.deepEqual(await asynchronous.stream(await asynchronous.run({ to: 2 })), [{ n: 0 }, { n: 1 }]);
});

for (const ending of ["throw", "error"]) {
  test(`a generator that fails keeps what it streamed: ${ending}`, async () => {
    const endpoint = await berth.endpoint("mine", function* () {
      yield 1;
      if (ending === "throw") throw new Error("out of numbers");
      yield { error: "out of numbers" };
    });
    const job = await endpoint.run({});
    assert.deepEqual(await endpoint.stream(job), [1]);
    const end = await endpoint.status(job);
    assert.equal(end.status, "FAILED");
    assert.match(end.error, /out of numbers/);
  });
}

test("progress is the output until the end", async () => {
  const [halfway, seen] = [event(), event()];
  const endpoint = await berth.endpoint("mine", async (job, { progress }) => {
    await progress("half way");
    halfway.happen();
    await seen.happened;
    return "done";
  });
  const job = await endpoint.run({});
  await halfway.happened;
  const during = await endpoint.status(job);
  seen.happen();
  assert.deepEqual([during.status, during.output], ["IN_PROGRESS", "half way"]);
  assert.equal((await endpoint.statusSync(job)).output, "done");
});

test("a worker without a job does not ask what is to stop, which would fill the journal", async () => {
  await berth.clock.freeze();
  const endpoint = await berth.endpoint("mine", () => "done");
  await endpoint.runsync({});
  const taken = () => berth.journal.entries({ operation: "takeJob", status: "204" });
  while ((await taken()).length < 5) await berth.clock.advance(60_000); // what is held ends
  await berth.journal.verify({ operation: "stopJobs", times: { atMost: 1 } });
  await berth.clock.resume();
});

test("a job that is cancelled ends the signal", async () => {
  const [begun, ended] = [event(), event()];
  const endpoint = await berth.endpoint("mine", async (job, { signal }) => {
    signal.addEventListener("abort", ended.happen);
    begun.happen();
    await ended.happened;
  });
  const job = await endpoint.run({});
  await begun.happened;
  await endpoint.cancel(job);
  await ended.happened;
  assert.equal((await endpoint.status(job)).status, "CANCELLED");
});

for (const workers of [1, 3]) {
  test(`so many jobs are worked on at once: ${workers}`, async () => {
    const all = event();
    let together = 0;
    const endpoint = await berth.endpoint(
      "mine",
      async (job) => {
        if (++together === workers) all.happen();
        await all.happened;
        return job.input.n;
      },
      { workers },
    );
    const jobs = [];
    for (let n = 0; n < workers; n++) jobs.push(await endpoint.run({ n }));
    const ends = await Promise.all(jobs.map((job) => endpoint.statusSync(job)));
    assert.deepEqual(ends.map((end) => end.output), jobs.map((_, n) => n));
  });
}

test("an endpoint without a function has no workers, declared or not", async () => {
  await berth.clock.freeze();
  for (const name of ["declared", "idle"]) {
    const endpoint = await berth.endpoint(name);
    const job = await endpoint.run({ n: 1 });
    await berth.clock.advance(24 * 60 * 60 * 1000);
    assert.equal((await endpoint.status(job)).status, "TIMED_OUT");
  }
  await berth.clock.resume();
});

test("a worker goes on after a fault of its reports, and with a clock that stands still", async () => {
  await berth.clock.freeze();
  await berth.faults.add({ operation: "finishJob", status: 503, times: 1 });
  const endpoint = await berth.endpoint("mine", () => "done");
  assert.equal((await endpoint.runsync({})).output, "done");
  assert.equal((await berth.faults.list())[0].shown, 1);
  await berth.clock.resume();
});
