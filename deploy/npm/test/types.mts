// Compiled, not run: the types of what a test in TypeScript writes, with import.
import { type Job, Refused, start } from "berth-test";

await using berth = await start({ args: ["--endpoint", "idle="] });
const endpoint = await berth.endpoint("upper", async (job: Job, { signal, progress }) => {
  await progress({ aborted: signal.aborted });
  return { upper: String(job.input.text).toUpperCase() };
}, { workers: 2, timeout: 60_000 });
await berth.endpoint("pictures", undefined, { workers: { min: 1, max: 1 } });
const job = await endpoint.runsync({ text: "hello" });
const status: "COMPLETED" | "FAILED" | "IN_QUEUE" | "IN_PROGRESS" | "CANCELLED" | "TIMED_OUT" = job.status;
const fault = await berth.faults.add({ operation: "createPod", when: "after", status: 503, body: { "/name": status } });
await berth.faults.delete(fault);
const now: Date = await berth.clock.advance(1000);
await berth.journal.verify([{ operation: "run", since: now, times: 1 }, { status: "4xx", times: { atMost: 1 } }], { inOrder: true });
await berth.scripts.set(endpoint, { answers: [{ output: "{{/prompt}}" }] });
await berth.states.load((await berth.states.list())[0].name);
await berth.webhooks.deliver((await berth.webhooks.list())[0]);
const why: string = (await berth.why.job((await berth.jobs.list({ from: now, limit: 1 }))[0])).because + berth.inbox.url("orders");
await using seeded = await start({ seed: { pods: [{ name: why }] } });
await seeded.reset();
const spent: number = (await berth.costs({ by: "kind", since: now })).total;
// @ts-expect-error: there is no such grouping
await berth.costs({ by: spent });
// @ts-expect-error: there is no such time in a call
await berth.faults.add({ operation: "createPod", when: "between" });
if (new Error() instanceof Refused) await berth.stop();
