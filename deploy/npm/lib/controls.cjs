// The clock, the faults, the journal and the rest of the test controls of a server, with the words of spec/controls.yaml.
"use strict";
const { AssertionError } = require("node:assert");
const { decoded } = require("./connection.cjs");

/** The clock of the server. What falls due on the way has been done when a method has its answer; each gives the time that it is then. */
class Clock {
  #controls;

  constructor(controls) {
    this.#controls = controls;
  }

  /** Reads the clock. */
  async now() {
    return new Date((await this.state()).now);
  }

  /** Gives all that there is of the clock. */
  state() {
    return this.#controls.ask("GET", "/clock");
  }

  /** Makes it stand still. */
  freeze() {
    return this.#set("freeze");
  }

  /** Makes it run again from where it stands. */
  resume() {
    return this.#set("resume");
  }

  /** Sets it forward, from one thing that is due to the next. */
  advance(milliseconds) {
    return this.#set("advance", { milliseconds });
  }

  /** Has it go by itself to what is due whenever everything waits. */
  auto({ milliseconds, settle } = {}) {
    return this.#set("auto", { milliseconds, settle });
  }

  /** Waits on the clock, however it goes on. */
  sleep(milliseconds) {
    return this.#set("sleep", { milliseconds });
  }

  /** Has the time of day of the machine step, back if it is less than 0; nothing falls due by it. */
  step(milliseconds) {
    return this.#set("step", { milliseconds });
  }

  async #set(verb, body) {
    return new Date((await this.#controls.ask("POST", "/clock/" + verb, body)).now);
  }
}

/** What operations of the server do wrong. */
class Faults {
  #controls;

  constructor(controls) {
    this.#controls = controls;
  }

  /** Scripts one more fault, and gives it with its id. */
  add(fault) {
    return this.#controls.ask("POST", "/faults", withPlaces(fault));
  }

  /** Replaces all faults. */
  async set(faults) {
    await this.#controls.ask("PUT", "/faults", { faults: faults.map(withPlaces) });
  }

  /** Gives the faults in their order, with how many calls each matched and how many of them met it. */
  async list() {
    return (await this.#controls.ask("GET", "/faults")).faults;
  }

  /** Takes one fault back: its id, or what add gave. */
  async delete(fault) {
    await this.#controls.ask("DELETE", "/faults/" + encodeURIComponent(typeof fault === "string" ? fault : fault.id));
  }

  /** Takes all faults back. */
  async clear() {
    await this.#controls.ask("DELETE", "/faults");
  }
}

/** The last requests, 2000 and 32 MiB of them at most, that came to the server, the oldest first. */
class Journal {
  #controls;

  constructor(controls) {
    this.#controls = controls;
  }

  /** Gives the requests that every filter matches. */
  async entries(filters = {}) {
    return (await this.#controls.ask("GET", "/journal" + query(filters))).entries;
  }

  /** Gives the requests that every filter matches as HAR 1.2. */
  har(filters = {}) {
    return this.#controls.ask("GET", "/journal.har" + query(filters));
  }

  /** Forgets the requests that came. */
  async clear() {
    await this.#controls.ask("DELETE", "/journal");
  }

  /** Holds the requests against what is expected of them. Throws AssertionError, which says what does not hold and which request comes nearest. */
  async verify(expectations, { inOrder = false } = {}) {
    const all = (Array.isArray(expectations) ? expectations : [expectations]).map(expectation);
    const result = await this.#controls.ask("POST", "/journal/verify", { expectations: all, inOrder });
    if (result.ok) return;
    throw new AssertionError({ message: await this.#explained(result), actual: result.failures, expected: [], operator: "verify" });
  }

  /** Says what does not hold, with the nearest request of each expectation. */
  async #explained({ failures, dropped }) {
    const lines = ["the requests that came are not what was expected"];
    for (const { says, nearest } of failures) {
      lines.push(`- ${says}`);
      if (!nearest) continue;
      const { status, answer } = await this.#controls.send("GET", `/journal/${nearest.number}`);
      const request = status === 200 ? `, ${answer.method} ${answer.path}, answered with ${answer.status}` : "";
      lines.push(`  the nearest is number ${nearest.number}${request}:`);
      for (const { member, found, expected } of nearest.differences) lines.push(`    ${member} is ${found}, expected ${expected}`);
    }
    if (dropped > 0) lines.push(`${dropped} older requests were forgotten, and are not counted`);
    return lines.join("\n");
  }
}

/** What the workers of endpoints do that have no handler. An endpoint is its id, or what has one. */
class Scripts {
  #controls;

  constructor(controls) {
    this.#controls = controls;
  }

  /** Sets the script of an endpoint, in place of the one that there was. */
  async set(endpoint, script) {
    await this.#controls.ask("PUT", `/endpoints/${idOf(endpoint)}/script`, script);
  }

  /** Gives the script of an endpoint, with how often its answers were used. */
  get(endpoint) {
    return this.#controls.ask("GET", `/endpoints/${idOf(endpoint)}/script`);
  }

  /** Takes the script of an endpoint back. */
  async delete(endpoint) {
    await this.#controls.ask("DELETE", `/endpoints/${idOf(endpoint)}/script`);
  }
}

/** Everything that the server has, saved under names, for as long as the server is there. */
class States {
  #controls;
  #loaded;

  constructor(controls, loaded) {
    [this.#controls, this.#loaded] = [controls, loaded];
  }

  /** Saves everything, in place of what was saved under the name. */
  async save(name) {
    await this.#controls.ask("PUT", "/states/" + encodeURIComponent(name));
  }

  /** Goes back to a saved state. Its keys are those of the state; endpoints of functions end. */
  async load(name) {
    await this.#controls.ask("POST", `/states/${encodeURIComponent(name)}/load`);
    await this.#loaded();
  }

  /** Gives the saved states, by name. */
  async list() {
    return (await this.#controls.ask("GET", "/states")).states;
  }

  /** Deletes a saved state. */
  async delete(name) {
    await this.#controls.ask("DELETE", "/states/" + encodeURIComponent(name));
  }
}

/** The webhooks that the server delivers. */
class Webhooks {
  #controls;

  constructor(controls) {
    this.#controls = controls;
  }

  /** Gives the last deliveries, the newest first. */
  async list() {
    return (await this.#controls.ask("GET", "/webhooks")).webhooks;
  }

  /** Delivers the job's document once more to where a delivery went: its number, or what list gave. */
  async deliver(delivery) {
    await this.#controls.ask("POST", `/webhooks/${typeof delivery === "number" ? delivery : delivery.number}/deliver`);
  }
}

/** A receiver of webhooks, of any name. */
class Inbox {
  #url;
  #controls;

  constructor(url, controls) {
    [this.#url, this.#controls] = [url, controls];
  }

  /** Gives the address for webhooks of that name. */
  url(name) {
    return this.#url + encodeURIComponent(name);
  }

  /**
   * Gives the bodies that came to that name, the oldest first; one that is no UTF-8 as a Buffer. Throws for one of more than 64 KiB, and once the
   * journal has forgotten requests, which may have been some of them.
   */
  async received(name) {
    const { entries, dropped } = await this.#controls.ask("GET", "/journal" + query({ operation: "receiveWebhook", resource: name }));
    if (dropped > 0) throw new Error(`the journal forgot ${dropped} older requests, and some may have come here: journal.clear begins anew`);
    return entries.map((entry) => wholeBody(entry.request.body));
  }
}

/** The jobs of all endpoints. The function gives a connection. */
class Jobs {
  #connection;

  constructor(connection) {
    this.#connection = connection;
  }

  /** Gives the jobs that every filter matches, the one that was submitted last first: of all pages, or so many as limit says. */
  async list(filters = {}) {
    const connection = await this.#connection();
    const jobs = [];
    for (let cursor; ; ) {
      const page = await connection.ask("GET", "/jobs" + query({ ...filters, cursor }));
      jobs.push(...page.jobs);
      if (filters.limit !== undefined || !page.pagination.hasNextPage) return jobs;
      cursor = page.pagination.nextCursor;
    }
  }

  /** Gives all that is known of a job: its id, or what run gave. */
  async get(job) {
    return (await this.#connection()).ask("GET", "/jobs/" + idOf(job));
  }
}

/** The one reason why something does not go on, with what would help. The function gives a connection. */
class Why {
  #connection;

  constructor(connection) {
    this.#connection = connection;
  }

  /** Says why a job does not go on. */
  async job(job) {
    return (await this.#connection()).ask("GET", `/jobs/${idOf(job)}/why`);
  }

  /** Says why the workers of an endpoint do not take up its jobs. */
  async endpoint(endpoint) {
    return (await this.#connection()).ask("GET", `/endpoints/${idOf(endpoint)}/why`);
  }

  /** Says why a pod does not run. */
  async pod(pod) {
    return (await this.#connection()).ask("GET", `/pods/${idOf(pod)}/why`);
  }
}

/** Reads a body of the journal. Throws for one of which the journal has the beginning alone. */
function wholeBody({ text, base64, length, truncated }) {
  if (truncated) {
    throw new Error(`the journal keeps the first 64 KiB of a body, and this one had ${length} bytes: journal.entries gives its beginning`);
  }
  return base64 ? Buffer.from(text, "base64") : decoded(text);
}

/** Gives an id, or that of what has one, for an address. */
function idOf(one) {
  return encodeURIComponent(typeof one === "string" ? one : one.id);
}

/** Writes { body: { "/input/n": 7 } } as the list of pointers and values that it stands for. */
function withPlaces({ body, ...rest }) {
  if (body === undefined) return rest;
  return { ...rest, body: Array.isArray(body) ? body : Object.entries(body).map(([pointer, equals]) => ({ pointer, equals })) };
}

/** Writes an expectation as the server takes it. */
function expectation({ headers, times, status, since, until, ...rest }) {
  const whole = { ...withPlaces(rest), since: timeOf(since), until: timeOf(until) };
  if (headers) whole.headers = Array.isArray(headers) ? headers : Object.entries(headers).map(([name, value]) => ({ name, value }));
  if (times !== undefined) whole.times = typeof times === "number" ? { exactly: times } : times;
  if (status !== undefined) whole.status = String(status);
  return whole;
}

/** Writes filters as the query of an address. */
function query(filters) {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined);
  return given.length === 0 ? "" : "?" + new URLSearchParams(given.map(([name, value]) => [name, String(timeOf(value))]));
}

/** Writes a Date as a time; what is none stays as it is. */
function timeOf(value) {
  return value instanceof Date ? value.toISOString() : value;
}

module.exports = { Clock, Faults, Inbox, Jobs, Journal, Scripts, States, Webhooks, Why, query };
