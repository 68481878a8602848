// The server of a test, as it is installed: packages.sh puts it into a folder of its own.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Refused, findProgram, start } from "berth-test";

const POD = { name: "trainer", image: "ubuntu:24.04", cpu: { id: "cpu3g", vcpuCount: 2 } };
const HOUR = 60 * 60 * 1000;

/** Starts a server that ends with the test. */
async function started(t, options) {
  const berth = await start(options);
  t.after(() => berth.stop());
  return berth;
}

/** Sends a request of a client. */
async function send(berth, method, path, body, key = berth.key) {
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json", Connection: "close" };
  const answer = await fetch(berth.url + path, { method, headers, body: body && JSON.stringify(body) });
  return { status: answer.status, answer: await answer.json() };
}

const create = (berth, members) => send(berth, "POST", "/v2/pods", { ...POD, ...members });

/** Makes a directory that goes with the test. */
function folder(t) {
  const made = mkdtempSync(join(tmpdir(), "test-of-berth-"));
  t.after(() => rmSync(made, { recursive: true }));
  return made;
}

/** Gives the servers with a path below the directory in their command line or in their environment, which e shows. */
function serversBelow(directory) {
  const shown = execFileSync("ps", ["-A", "-ww", "e", "-o", "pid=,args="], { encoding: "utf8" });
  return shown.split("\n").filter((line) => line.includes(directory) && line.includes("serve --json"));
}

test("a server answers at its addresses", async (t) => {
  const berth = await started(t);
  assert.deepEqual((await send(berth, "GET", "/v2/pods")).answer.pods, []);
  const { answer } = await send(berth, "POST", "/graphql", { query: "{myself{id}}" });
  assert.ok(answer.data.myself.id);
  assert.equal(berth.graphqlUrl, berth.url + "/graphql");
  assert.equal((await send(berth, "GET", "/v2/pods", undefined, "wrong")).status, 401);
});

test("it is there for require too", () => {
  const berth = createRequire(import.meta.url)("berth-test");
  assert.deepEqual({ ...berth }, { Refused, findProgram, start });
});

test("the clock is frozen, advanced, and goes by itself", async (t) => {
  const berth = await started(t);
  const before = await berth.clock.freeze();
  const pod = (await create(berth)).answer;
  assert.equal(pod.status, "PROVISIONING");
  assert.equal((await berth.clock.advance(HOUR)) - before, HOUR);
  assert.equal((await berth.clock.now()) - before, HOUR);
  assert.equal((await send(berth, "GET", "/v2/pods/" + pod.id)).answer.status, "RUNNING");

  await berth.clock.auto({ milliseconds: 48 * HOUR, settle: 10_000 }); // who asks again is waited for no longer
  assert.ok((await berth.clock.sleep(30 * HOUR)) - before >= 31 * HOUR); // in real time it would not end with this test
  await berth.clock.freeze();
  const at = await berth.clock.now();
  assert.equal((await berth.clock.step(-HOUR)) - at, -HOUR);
  await berth.clock.resume();
  assert.equal((await berth.clock.state()).mode, "running");
});

test("what ran would have cost its price, on the clock of the server", async (t) => {
  const berth = await started(t);
  await berth.clock.freeze();
  const pod = (await create(berth)).answer;
  await berth.clock.advance(HOUR);
  const running = (await send(berth, "GET", "/v2/pods/" + pod.id)).answer;
  const from = new Date(running.startedAt);
  await berth.clock.advance(24 * HOUR - ((await berth.clock.now()) - from));

  const { costs, total, count, until } = await berth.costs();
  assert.deepEqual([costs.length, count, costs[0].id, costs[0].kind], [1, 1, pod.id, "pod"]);
  assert.equal(costs[0].milliseconds, 24 * HOUR);
  assert.equal(Math.round(total * 1e9), Math.round(running.cost * 1e9) * 24);
  assert.equal((await berth.costs({ since: new Date(until) })).total, 0);
  await assert.rejects(berth.costs({ by: "test" }), Refused);
  await berth.reset();
  assert.equal((await berth.costs()).total, 0);
});

test("faults are added, counted, set, taken back and cleared", async (t) => {
  const berth = await started(t);
  const fault = await berth.faults.add({ operation: "createPod", body: { "/name": "trainer" }, status: 503, retryAfter: 0 });
  assert.equal((await create(berth)).status, 503);
  assert.equal((await create(berth, { name: "other" })).status, 201);
  const [shown] = await berth.faults.list();
  assert.deepEqual([shown.id, shown.calls, shown.shown], [fault.id, 1, 1]);
  await berth.faults.delete(fault);
  assert.equal((await create(berth)).status, 201);

  await berth.faults.set([{ operation: "createPod", status: 500 }, { operation: "listPods", status: 500 }]);
  assert.deepEqual((await berth.faults.list()).map((one) => one.operation), ["createPod", "listPods"]);
  await berth.faults.clear();
  assert.deepEqual(await berth.faults.list(), []);
  await assert.rejects(berth.faults.add({ operation: "createPod", statuss: 503 }), (error) => error instanceof Refused && error.status === 422 && /statuss/.test(error.message));
});

test("the journal has what was sent, and holds it against what is expected", async (t) => {
  const berth = await started(t);
  await create(berth);
  await create(berth, { name: "" });
  const [refused] = await berth.journal.entries({ operation: "createPod", status: "4xx" });
  assert.equal(refused.status, 422);
  assert.deepEqual((await berth.journal.har()).log.entries.map((entry) => entry.response.status), [201, 422]);
  assert.deepEqual(await berth.journal.entries({ since: new Date(Date.now() + HOUR) }), []);

  await berth.journal.verify({ operation: "createPod", status: 201, body: { "/name": "trainer" }, headers: { "content-type": "application/json" }, times: 1 });
  await berth.journal.verify([{ operation: "createPod", status: 201 }, { operation: "createPod", status: 422 }], { inOrder: true });
  await assert.rejects(berth.journal.verify([{ operation: "createPod", status: 422 }, { operation: "createPod", status: 201 }], { inOrder: true }), assert.AssertionError);

  await berth.journal.clear();
  assert.deepEqual(await berth.journal.entries(), []);
});

test("what did not come fails with the request that comes nearest", async (t) => {
  const berth = await started(t);
  await create(berth);
  await assert.rejects(berth.journal.verify({ operation: "createPod", body: { "/name": "trainr" }, times: 1 }), {
    name: "AssertionError",
    message: [
      "the requests that came are not what was expected",
      '- requests with operation createPod, body /name "trainr": expected exactly 1, found 0',
      "  the nearest is number 1, POST /v2/pods, answered with 201:",
      '    body /name is "trainer", expected "trainr"',
    ].join("\n"),
  });
});

test("a key has the scopes that it is made with, and any control can be sent", async (t) => {
  const berth = await started(t);
  const { key } = await berth.newKey(["rest:read"], { name: "reader" });
  assert.equal((await send(berth, "POST", "/v2/pods", POD, key)).status, 403);
  await berth.control("PUT", "/quotas", { minute: 1, hour: 1, day: 1 });
  assert.deepEqual([(await send(berth, "GET", "/v2/pods")).status, (await send(berth, "GET", "/v2/pods")).status], [200, 429]);
});

test("a reset forgets pods, faults, requests and endpoints", async (t) => {
  const berth = await started(t);
  await create(berth);
  await berth.faults.add({ operation: "listPods", status: 500 });
  const endpoint = await berth.endpoint("mine", () => 1);
  await berth.reset();
  assert.deepEqual((await send(berth, "GET", "/v2/pods")).answer.pods, []);
  assert.deepEqual(await berth.faults.list(), []);
  const byWorkers = ["takeJob", "stopJobs"]; // the endpoint's may just have begun
  assert.deepEqual((await berth.journal.entries()).map((entry) => entry.operation).filter((name) => !byWorkers.includes(name)), ["listPods"]);
  await assert.rejects(endpoint.run({}), { status: 404 });
});

test("a reset forgets everything also where a handler still runs, which it says", async (t) => {
  const berth = await started(t);
  await create(berth);
  let begin, end;
  const begun = new Promise((resolve) => (begin = resolve));
  const ended = new Promise((resolve) => (end = resolve));
  t.after(() => end());
  const endpoint = await berth.endpoint("stuck", () => (begin(), ended));
  await endpoint.run({});
  await begun;
  await assert.rejects(berth.reset(), /the endpoint stuck still runs/);
  assert.deepEqual((await send(berth, "GET", "/v2/pods")).answer.pods, []);
  await assert.rejects(endpoint.run({}), { status: 404 });
});

test("two servers share nothing", async (t) => {
  const [one, other] = await Promise.all([started(t), started(t)]);
  await create(one);
  await one.clock.advance(HOUR);
  assert.deepEqual((await send(other, "GET", "/v2/pods")).answer.pods, []);
  assert.ok((await one.clock.now()) - (await other.clock.now()) > HOUR / 2);
  assert.equal((await send(other, "GET", "/v2/pods", undefined, one.key)).status, 401);
});

test("fifty servers leave no process, no directory and no open handle", { timeout: 400_000 }, async (t) => {
  const directory = folder(t);
  const use = async () => {
    const berth = await start({ directory });
    const endpoint = await berth.endpoint("mine", (job) => job.input);
    assert.deepEqual((await endpoint.runsync({ n: 1 })).output, { n: 1 });
    await berth.stop();
    await berth.stop(); // again
  };
  const open = () => process.getActiveResourcesInfo().filter((kind) => /Process|TCP|Pipe/.test(kind)).length;
  const before = open();
  for (let n = 0; n < 25; n++) await Promise.all([use(), use()]);
  for (const end = Date.now() + 60_000; open() > before; ) { // what was closed goes a moment later
    assert.ok(Date.now() < end, process.getActiveResourcesInfo().join(" "));
    await new Promise(setImmediate);
  }
  assert.deepEqual(serversBelow(directory), []);
  assert.deepEqual(readdirSync(directory), []);
});

test("a process that is killed leaves no server", async (t) => {
  const directory = folder(t);
  const script = `require("berth-test").start({ directory: process.argv[1] }).then(() => console.log("up"))`;
  const child = spawn(process.execPath, ["-e", script, directory], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  assert.notDeepEqual(serversBelow(directory), []);
  child.kill("SIGKILL");
  for (const end = Date.now() + 30_000; serversBelow(directory).length > 0; ) {
    assert.ok(Date.now() < end, "the server goes on");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
});

test("it is disposed of by await using", { skip: !Symbol.asyncDispose }, async (t) => {
  const directory = folder(t);
  const berth = await start({ directory });
  await berth[Symbol.asyncDispose]();
  assert.deepEqual(readdirSync(directory), []);
  assert.match(berth.log(), /operation|draining/);
});

test("arguments that make no sense fail with what the program says", async (t) => {
  const directory = folder(t);
  await assert.rejects(start({ directory, args: ["--nonsense"] }), /did not start; .*unknown flag: --nonsense/s);
  assert.deepEqual(readdirSync(directory), []);
});

/** Writes a program that says so much, and then goes on until it is ended. Gives its path, and what reads its process, once it is one. */
function talker(t, says) {
  const program = join(folder(t), "berth");
  const lines = ["#!/bin/sh", 'echo "what it logs" >&2', 'echo $$ >"$0.new" && mv "$0.new" "$0.pid"', says, "exec sleep 600", ""];
  writeFileSync(program, lines.join("\n"), { mode: 0o755 });
  const pid = async () => {
    for (const end = Date.now() + 30_000; !existsSync(program + ".pid"); ) {
      assert.ok(Date.now() < end, "the program does not run");
      await new Promise(setImmediate);
    }
    return Number(readFileSync(program + ".pid", "utf8"));
  };
  return { program, pid };
}

/** Whether there is such a process. */
function runs(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test("a program that prints nothing did not start after a minute, and is ended", async (t) => {
  const [directory, silent] = [folder(t), talker(t, "")];
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const starting = start({ directory, program: silent.program });
  const refused = assert.rejects(starting, /\/berth did not start; its log ends with:\nwhat it logs/);
  const pid = await silent.pid();
  assert.ok(runs(pid));
  t.mock.timers.tick(60_000);
  await refused;
  assert.ok(!runs(pid));
  assert.deepEqual(readdirSync(directory), []);
});

for (const [what, says] of [
  ["no JSON", "echo hello"],
  ["no object", "echo null"],
  ["no key of the controls", `echo '{"url":"http://127.0.0.1:1","queueUrl":"http://127.0.0.1:1","key":"k","endpoints":{}}'`],
]) {
  test(`a program whose first line has ${what} did not start, and is ended`, async (t) => {
    const [directory, other] = [folder(t), talker(t, says)];
    await assert.rejects(start({ directory, program: other.program }), /\/berth did not start; its log ends with:\nwhat it logs/);
    assert.ok(!runs(await other.pid()));
    assert.deepEqual(readdirSync(directory), []);
  });
}

test("a seed that cannot be written leaves no directory", async (t) => {
  const directory = folder(t);
  await assert.rejects(start({ directory, program: process.execPath, seed: { n: 1n } }), TypeError);
  assert.deepEqual(readdirSync(directory), []);
});

test("a program that is not there is named, with what to do", (t) => {
  const { BERTH, PATH } = process.env;
  t.after(() => Object.assign(process.env, { PATH }, BERTH && { BERTH }));
  assert.throws(() => findProgram("/no/berth"), /the option program is \/no\/berth/);
  process.env.BERTH = "/no/berth";
  assert.throws(() => findProgram(), /the environment's BERTH is \/no\/berth/);

  const directory = folder(t);
  writeFileSync(join(directory, "berth"), "#!/bin/sh\n", { mode: 0o755 });
  process.env.BERTH = join(directory, "berth");
  assert.equal(findProgram(), join(directory, "berth"));
  delete process.env.BERTH;
});
