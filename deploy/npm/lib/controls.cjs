// The clock, the faults and the journal of a server: the test controls, with the words of spec/controls.yaml.
"use strict";
const { AssertionError } = require("node:assert");

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

/** The requests that came to the server, the oldest first. */
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

module.exports = { Clock, Faults, Journal, query };
