// A server of a test: the program berth in a process of its own, on a new database, with its clock in the test's hand.
"use strict";
const { spawn } = require("node:child_process");
const { once } = require("node:events");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { createInterface } = require("node:readline");
const { Connection } = require("./connection.cjs");
const { Clock, Faults, Inbox, Jobs, Journal, Scripts, States, Webhooks, Why, query } = require("./controls.cjs");
const { Worker } = require("./worker.cjs");

const START = 60_000; // milliseconds that a server may take to be ready
const STOP = 30_000; // milliseconds that a server may take to end

const COMMAND = ["serve", "--json", "--test-controls", "--listen", "127.0.0.1:0", "--private-webhooks", "--log-level", "debug"];

// The server ends with the line that it is sent, and with the death of the process that would send it, however that died.
const GUARD = '"$@" & server=$!; exec >&-; read -r line; kill -TERM "$server" 2>/dev/null; wait "$server"';

// An endpoint of a function: nothing is started for it.
const FUNCTION = {
  type: "QUEUE",
  image: "function",
  cpu: [{ id: "cpu3g", vcpuCount: 2 }],
  scaling: { type: "QUEUE_DELAY", queueDelay: 4 },
  workers: { min: 0, max: 0 },
};

/** Gives the program: the chosen one, that of the environment's BERTH, the one inside this package, or that on the PATH. */
function findProgram(chosen) {
  for (const [where, named] of [["the option program", chosen], ["the environment's BERTH", process.env.BERTH]]) {
    if (!named) continue;
    const found = named.includes("/") ? path.resolve(named) : onPath(named);
    if (!found || !isProgram(found)) throw new Error(`${where} is ${named}, which is no program that can be run`);
    return found;
  }
  const inside = path.join(__dirname, "..", "bin", "berth");
  const found = isProgram(inside) ? inside : onPath("berth");
  if (!found) {
    throw new Error(
      "there is no program berth: install a package of berth-test that has it inside, put it on the PATH, or name it by the option program " +
        "or the environment's BERTH",
    );
  }
  return found;
}

function onPath(name) {
  return (process.env.PATH ?? "").split(path.delimiter).map((folder) => path.join(folder, name)).find(isProgram);
}

function isProgram(file) {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

/** An endpoint of the server, with requests of a client to it. What is answered is given as it comes. */
class Endpoint {
  #client;

  constructor(server, id, name) {
    this.id = id;
    this.name = name;
    this.url = `${server.queueUrl}/v2/${id}`;
    this.#client = new Connection(this.url, server.key);
  }

  /** Submits a job. */
  run(input, members) {
    return this.#client.ask("POST", "/run", { input, ...members });
  }

  /** Submits a job and waits for its end. */
  runsync(input, members) {
    return this.#client.ask("POST", "/runsync", { input, ...members });
  }

  /** Reads a job. */
  status(job) {
    return this.#client.ask("GET", "/status/" + jobId(job));
  }

  /** Waits for the end of a job. */
  statusSync(job) {
    return this.#client.ask("GET", "/status-sync/" + jobId(job));
  }

  /** Reads what a job streams, to its end. */
  async stream(job) {
    const values = [];
    for (;;) {
      const read = await this.#client.ask("GET", "/stream/" + jobId(job));
      const chunks = Array.isArray(read) ? read : read.stream;
      const { status } = Array.isArray(read) ? await this.status(job) : read;
      values.push(...chunks.map((chunk) => chunk.output));
      if (!["IN_QUEUE", "IN_PROGRESS"].includes(status) && chunks.length === 0) return values;
    }
  }

  /** Cancels a job. */
  cancel(job) {
    return this.#client.ask("POST", "/cancel/" + jobId(job));
  }

  /** Counts its jobs and workers. */
  health() {
    return this.#client.ask("GET", "/health");
  }
}

function jobId(job) {
  return encodeURIComponent(typeof job === "string" ? job : job.id);
}

/** A running server, which start gives. */
class Server {
  #process;
  #ended;
  #folder;
  #controls;
  #declared;
  #workers = [];
  #own;
  #log = "";
  #stopped;

  constructor(ready, child, ended, folder) {
    this.url = ready.url;
    this.queueUrl = ready.queueUrl;
    this.graphqlUrl = ready.url + "/graphql";
    this.key = ready.key;
    this.controlsKey = ready.controlsKey;
    [this.#process, this.#ended, this.#folder, this.#declared] = [child, ended, folder, ready.endpoints];

    this.#controls = new Connection(ready.url + "/_berth", ready.controlsKey);
    this.clock = new Clock(this.#controls);
    this.faults = new Faults(this.#controls);
    this.journal = new Journal(this.#controls);
    this.scripts = new Scripts(this.#controls);
    this.states = new States(this.#controls, () => this.#endOfKeys());
    this.webhooks = new Webhooks(this.#controls);
    this.inbox = new Inbox(ready.url + "/_berth/inbox/", this.#controls);
    this.jobs = new Jobs(() => this.#ofClient());
    this.why = new Why(() => this.#ofClient());
  }

  /** Sends any test control. */
  control(method, path, body) {
    return this.#controls.ask(method, path, body);
  }

  /** Gives what would have been paid for what ran, in USD, on the clock of the server. */
  costs(filter = {}) {
    return this.control("GET", "/costs" + query(filter));
  }

  /** Makes a further key, and gives its id and key. */
  newKey(scopes, members) {
    return this.control("POST", "/keys", { scopes, ...members });
  }

  /**
   * Gives an endpoint of a function; without one that which an argument --endpoint declared, or a new one, without workers unless the options say
   * how many there are, as { min, max }. Those follow its script.
   */
  async endpoint(name, handler, { workers, ...members } = {}) {
    const declared = handler ? undefined : this.#declared[name];
    if (handler && workers !== undefined && typeof workers !== "number") throw new TypeError("workers of a function are a number, of jobs that are worked on at once");
    if (!handler && workers !== undefined) {
      if (declared || typeof workers === "number") throw new TypeError("workers of an endpoint without a function are { min, max }, and one that is declared has its own");
      members.workers = workers;
    }
    const key = await this.#ownKey();
    const id = declared ?? (await new Connection(this.url, key).ask("POST", "/v2/serverless", { name, ...FUNCTION, ...members })).id;
    if (handler) this.#workers.push(new Worker(this.queueUrl, id, name, key, handler, workers ?? 1));
    return new Endpoint(this, id, name);
  }

  /** Gives a key of ours: what we send counts against no quota of the test's, and the journal tells it from what the test sends. */
  async #ownKey() {
    const asked = (this.#own ??= this.newKey(["all"], { name: "berth-test", exempt: true }));
    try {
      return (await asked).key;
    } catch (cause) {
      if (this.#own === asked) this.#own = undefined; // the next one asks again
      throw cause;
    }
  }

  /** Gives a connection to what keys of clients may ask of /_berth. */
  async #ofClient() {
    return new Connection(this.url + "/_berth", await this.#ownKey());
  }

  /** Forgets our key, which a state may not have, and ends the workers that come with it. */
  #endOfKeys() {
    this.#own = undefined;
    return this.#closeWorkers();
  }

  /**
   * Forgets everything but keys, users, saved states, declared endpoints and the time; endpoints of functions end, faults and journal are empty.
   * Throws if a handler still runs, once all of it is forgotten.
   */
  async reset() {
    try {
      await this.#closeWorkers();
    } finally { // also where a handler still runs: the next test is to find nothing of this one
      await this.control("POST", "/reset");
    }
  }

  /** Gives the server's log. */
  log() {
    return this.#stopped ? this.#log : fs.readFileSync(path.join(this.#folder, "log"), "utf8");
  }

  /** Ends the workers and the server, and removes its directory. Throws if a handler still runs, and for an exit code but 0. */
  stop() {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop() {
    let code;
    try {
      await this.#closeWorkers();
    } finally {
      code = await end(this.#process, this.#ended);
      this.#log = fs.readFileSync(path.join(this.#folder, "log"), "utf8");
      fs.rmSync(this.#folder, { recursive: true });
    }
    if (code !== 0) throw new Error(`the server ended with ${code}; its log ends with:\n${lastLines(this.#log)}`);
  }

  async #closeWorkers() {
    const closed = await Promise.allSettled(this.#workers.splice(0).map((worker) => worker.close()));
    const failed = closed.find((one) => one.status === "rejected");
    if (failed) throw failed.reason;
  }
}

if (Symbol.asyncDispose) {
  Server.prototype[Symbol.asyncDispose] = function () {
    return this.stop();
  };
}

/** Starts a server, which is ready then. */
async function start({ args = [], program, directory = os.tmpdir(), seed } = {}) {
  const found = findProgram(program);
  const folder = fs.mkdtempSync(path.join(directory, "berth-"));
  let child, ended;
  try {
    child = launch(folder, [found, ...COMMAND, ...kept(folder, args), ...seeded(folder, seed), ...args]);
    ended = once(child, "exit").then(([code, signal]) => code ?? signal);
    return new Server(await ready(child), child, ended, folder);
  } catch (cause) {
    if (!child) throw remove(folder, cause);
    await end(child, ended);
    const text = fs.readFileSync(path.join(folder, "log"), "utf8");
    throw remove(folder, new Error(`${found} did not start; its log ends with:\n${lastLines(text)}`, { cause }));
  }
}

/** Starts the program, whose log is in the folder. */
function launch(folder, command) {
  const log = fs.openSync(path.join(folder, "log"), "w");
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("BERTH_")));
  env.BERTH_CONFIG = os.devNull; // what the machine has set is not of the test
  env.TMPDIR = folder; // where its database is: it goes with the folder, however the server ends
  try {
    const child = spawn("/bin/sh", ["-c", GUARD, "berth", ...command], { env, stdio: ["pipe", "pipe", log], detached: true });
    child.stdin.on("error", () => {}); // it ended by itself
    return child;
  } finally {
    fs.closeSync(log);
  }
}

/** Reads the one line that the program prints when it is ready, for a minute at the most. */
async function ready(child) {
  const lines = createInterface(child.stdout);
  let timer;
  const late = new Promise((resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`it printed nothing for ${START / 1000} seconds`)), START);
  });
  try {
    const line = await Promise.race([once(lines, "line").then(([text]) => text), once(lines, "close").then(() => ""), late]);
    const said = JSON.parse(line);
    for (const name of ["url", "queueUrl", "key", "controlsKey"]) {
      if (typeof said?.[name] !== "string") throw new Error(`its first line has no ${name}`);
    }
    return said;
  } finally {
    clearTimeout(timer);
    lines.close();
  }
}

/** Removes the folder of a server that did not start, and gives the error. */
function remove(folder, error) {
  fs.rmSync(folder, { recursive: true, force: true });
  return error;
}

/** Gives the arguments that say where the server keeps its database: nowhere, unless the caller says where. */
function kept(folder, args) {
  const named = args.some((arg) => ["--data", "--store"].includes(arg.split("=")[0]));
  return named ? ["--data", path.join(folder, "data")] : ["--ephemeral"];
}

/** Gives the arguments of a seed, and writes the file of one that is none. */
function seeded(folder, seed) {
  if (seed === undefined) return [];
  if (typeof seed === "string") return ["--seed", path.resolve(seed)];
  const file = path.join(folder, "seed.json");
  fs.writeFileSync(file, JSON.stringify(seed));
  return ["--seed", file];
}

/** Asks the server to end, and kills it if it does not. Gives its exit code. */
async function end(child, ended) {
  child.stdin.end("\n");
  const timer = setTimeout(() => process.kill(-child.pid, "SIGKILL"), STOP);
  try {
    return await ended;
  } finally {
    clearTimeout(timer);
    child.stdout.destroy();
  }
}

function lastLines(text) {
  return text.trimEnd().split("\n").slice(-20).join("\n");
}

module.exports = { Endpoint, Server, findProgram, start };
