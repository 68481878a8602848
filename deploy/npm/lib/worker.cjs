// A worker in the test's own process: it takes jobs over the worker protocol, calls a function on each, and reports.
"use strict";
const { setTimeout: pause } = require("node:timers/promises");
const { Connection } = require("./connection.cjs");

const WORKER_ID = "berth-test";
const PING_INTERVAL = 10_000;
const POLL = 90_000; // that a poll may be held; a frozen clock holds it for ever
const POST = 60_000; // after which a report is given up
const PATIENCE = 10_000; // that handlers may take to end with the test

/** Takes jobs of an endpoint, up to so many at once, until it is closed. */
class Worker {
  #connection;
  #path;
  #name;
  #handler;
  #workers;
  #closing = new AbortController();
  #held = new Map(); // by job id: what stops it, and its end
  #freed = () => {};
  #begun = () => {};
  #rounds;

  constructor(queueUrl, endpointId, name, key, handler, workers) {
    this.#connection = new Connection(queueUrl, key, ""); // as the SDK sends it
    this.#path = (operation) => `/v2/${endpointId}/${operation}/${WORKER_ID}`;
    [this.#name, this.#handler, this.#workers] = [name, handler, workers];
    this.#rounds = Promise.all([this.#takes(), this.#stops(), this.#pings()]);
  }

  /** Ends all of it. Throws if a handler does not end within ten seconds. */
  async close() {
    this.#closing.abort();
    this.#freed();
    this.#begun();
    const held = [...this.#held.values()];
    for (const one of held) one.stop.abort();

    const over = new AbortController();
    const after = (time) => pause(time, true, { signal: over.signal });
    // A moment more: what held all of this process up may have taken the whole of the time, and timers come before what arrived meanwhile.
    const late = after(PATIENCE).then(() => after(100)).catch(() => false);
    const isLate = await Promise.race([Promise.all([this.#rounds, ...held.map((one) => one.end)]).then(() => false), late]);
    over.abort();
    if (isLate) throw new Error(`the handler of the endpoint ${this.#name} still runs ${PATIENCE / 1000} s after the end of the test: have it return`);
  }

  async #takes() {
    while (!this.#closing.signal.aborted) {
      while (this.#held.size >= this.#workers && !this.#closing.signal.aborted) await new Promise((freed) => (this.#freed = freed));
      const room = this.#workers - this.#held.size;
      const progress = "job_in_progress=" + (this.#held.size > 0 ? 1 : 0);
      const path = room === 1 ? `${this.#path("job-take")}?` : `${this.#path("job-take-batch")}?batch_size=${room}&`;
      const taken = await this.#poll(path + progress);
      for (const job of [taken].flat()) {
        if (job && !this.#closing.signal.aborted && !this.#held.has(job.id)) this.#begin(job);
      }
    }
  }

  /** Asks which jobs are to stop while there are some: each time that it asks is in the journal, which forgets the oldest ones. */
  async #stops() {
    while (!this.#closing.signal.aborted) {
      while (this.#held.size === 0 && !this.#closing.signal.aborted) await new Promise((begun) => (this.#begun = begun));
      if (this.#closing.signal.aborted) return;
      const stop = await this.#poll(this.#path("job-stop"));
      const held = (stop?.jobsToStop ?? []).map((id) => this.#held.get(id)).filter(Boolean);
      for (const one of held) one.stop.abort();
      if (held.length > 0) await this.#rest(50); // the same list comes again until they are gone
    }
  }

  async #pings() {
    for (;;) {
      await this.#rest(PING_INTERVAL);
      if (this.#closing.signal.aborted) return;
      const jobs = [...this.#held.keys()].map(encodeURIComponent).join(",");
      if (jobs) await this.#send("GET", `${this.#path("ping")}?job_id=${jobs}`, undefined, PING_INTERVAL);
    }
  }

  /** Gives the answer; null, of a server that fails a moment later, so that it is not asked thousands of times a second. */
  async #poll(path) {
    const { status, answer } = await this.#send("GET", path, undefined, POLL, this.#closing.signal);
    if (status === 200) return answer;
    await this.#rest(status === 429 ? 5000 : status === 204 ? 1 : 50);
    return null;
  }

  /** As Connection.send, with the status 0 where there is no answer. The time is that of a timer which keeps nothing alive. */
  async #send(method, path, body, time, signal) {
    const ending = new AbortController();
    const end = () => ending.abort();
    const timer = setTimeout(end, time);
    signal?.addEventListener("abort", end);
    if (signal?.aborted) end();
    try {
      return await this.#connection.send(method, path, body, ending.signal);
    } catch (error) {
      return { status: 0, answer: error };
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
    }
  }

  /** Waits, unless the worker is closed. */
  async #rest(milliseconds) {
    await pause(milliseconds, undefined, { signal: this.#closing.signal }).catch(() => {});
  }

  #begin(job) {
    const one = { stop: new AbortController() };
    this.#held.set(job.id, one);
    this.#begun();
    one.end = this.#work(job, one.stop.signal).finally(() => {
      this.#held.delete(job.id);
      this.#freed();
    });
  }

  /** Runs the handler, and reports unless the server asked for its end. */
  async #work(job, signal) {
    const where = encodeURIComponent(job.id);
    const done = (body, streams) => this.#post(`${this.#path("job-done")}/${where}?isStream=${streams}`, body);
    const chunk = (output) => this.#post(`${this.#path("job-stream")}/${where}?isStream=false`, { output });
    const context = { signal, progress: (output) => done(checked({ status: "IN_PROGRESS", output: output ?? null }), false) };
    let streams = false;
    let body;
    try {
      const result = await this.#handler(job, context);
      streams = isIterator(result);
      body = streams ? await stream(result, signal, chunk) : checked(report(result));
    } catch (error) {
      body = { error: streams ? `handler: ${error?.message ?? error} \ntraceback: ${error?.stack ?? ""}` : JSON.stringify(described(error)) };
    }
    if (!signal.aborted) await done(body, streams);
  }

  /** Posts a report, again and again if the server has trouble: one that came twice changes nothing the second time. */
  async #post(path, body) {
    const until = Date.now() + POST;
    for (let wait = 50; ; wait = Math.min(2 * wait, 2000)) {
      const { status } = await this.#send("POST", path, body, POST);
      if ((status > 0 && status < 500) || Date.now() > until || this.#closing.signal.aborted) return;
      await this.#rest(wait);
    }
  }
}

/** Reports whether a handler gave what generators give. */
function isIterator(result) {
  return typeof result?.next === "function" && (Symbol.asyncIterator in result || Symbol.iterator in result);
}

/** Emits what a generator yields. Gives the report of its end. */
async function stream(values, signal, emit) {
  for await (const value of values) {
    if (signal.aborted) break; // which has the generator end, with its finally
    if (value?.error) return { error: String(value.error) };
    await emit(checked({ output: value }).output);
  }
  return { output: [] };
}

/** Gives the report of what a handler returned: an object may have error and refresh_worker, and an empty one is no output. */
function report(output) {
  if (output === null || typeof output !== "object" || Array.isArray(output)) return { output: output ?? null };
  const { error, refresh_worker: refresh, ...rest } = output;
  if (!error && !refresh) return JSON.stringify(output) === "{}" ? {} : { output };
  return {
    ...(Object.keys(rest).length > 0 && { output: rest }),
    ...(error && { error }),
    ...(refresh && { stopPod: true }),
  };
}

/** Throws TypeError of what is no JSON: a function, a circle, a BigInt. */
function checked(body) {
  for (const member of ["output", "error"]) {
    if (member in body && JSON.stringify(body[member]) === undefined) throw new TypeError(`the ${member} is no JSON: ${typeof body[member]}`);
  }
  return body;
}

/** Gives the members of an error as the official SDK reports it. */
function described(error) {
  return {
    error_type: error?.name ?? typeof error,
    error_message: error?.message ?? String(error),
    error_traceback: error?.stack ?? "",
    hostname: "unknown",
    worker_id: WORKER_ID,
    runpod_version: "berth-test",
  };
}

module.exports = { Worker };
