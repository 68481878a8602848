// A berth server for one test, on a new database, with its clock in the test's hand.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const program = process.env.BERTH ?? "berth";

/**
 * Starts a server, which is stopped when the test ends.
 *
 * @param {import("node:test").TestContext} t
 * @param {Record<string, string>} endpoints commands of workers by the name of their endpoint; "" for no workers
 */
export async function startBerth(t, endpoints = { echo: `'${program}' worker --handler echo` }) {
  const data = await mkdtemp(join(tmpdir(), "berth-"));
  const args = ["serve", "--test-controls", "--json", "--listen", "127.0.0.1:0", "--data", data];
  for (const [name, command] of Object.entries(endpoints)) args.push("--endpoint", `${name}=${command}`);
  const server = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(server, "exit");
  t.after(async () => {
    server.kill("SIGTERM");
    await ended;
    await rm(data, { recursive: true });
  });
  // The only line that it prints, once it is ready; what it logs goes to stderr.
  const line = await Promise.race([once(createInterface(server.stdout), "line"), ended.then(() => undefined)]);
  if (!line) throw new Error("berth did not start");
  const ready = JSON.parse(line[0]);
  return { ...ready, clock: new Clock(ready.url + "/_berth/clock", ready.controlsKey) };
}

/** The server's clock. What falls due on the way has been done when advance returns. */
class Clock {
  constructor(url, key) {
    this.url = url;
    this.key = key;
  }
  freeze = () => this.#call("POST", "/freeze");
  resume = () => this.#call("POST", "/resume");
  advance = (milliseconds) => this.#call("POST", "/advance", { milliseconds });
  now = () => this.#call("GET", "");

  async #call(method, path, body) {
    const headers = { Authorization: `Bearer ${this.key}`, "Content-Type": "application/json" };
    const answer = await fetch(this.url + path, { method, headers, body: body && JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
    return new Date((await answer.json()).now);
  }
}
