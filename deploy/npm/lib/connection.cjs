// HTTP to one server, by node:http: a connection for each request, so that nothing stays open behind a test.
"use strict";
const http = require("node:http");

/** The server answered with a problem. */
class Refused extends Error {
  constructor(status, answer) {
    const lines = [answer?.detail ?? (answer === null ? "no body" : String(answer)), ...(answer?.errors ?? [])];
    super(`the server answered ${status}: ${lines.join("; ")}`);
    this.name = "Refused";
    this.status = status;
    this.answer = answer;
  }
}

class Connection {
  #base;
  #headers;

  constructor(base, key, scheme = "Bearer ") {
    this.#base = base;
    this.#headers = { Authorization: scheme + key };
  }

  /** Gives the status and the body, null where there is none. The signal ends the request. */
  send(method, path, body, signal) {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = { ...this.#headers };
    if (text !== undefined) Object.assign(headers, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) });

    return new Promise((resolve, reject) => {
      const request = http.request(this.#base + path, { method, headers, signal, agent: false });
      request.on("error", reject);
      request.on("response", (response) => {
        const parts = [];
        response.on("error", reject);
        response.on("data", (part) => parts.push(part));
        response.on("end", () => resolve({ status: response.statusCode, answer: decoded(Buffer.concat(parts).toString()) }));
      });
      request.end(text);
    });
  }

  /** Gives the body of an answer that is a success. Throws Refused for another one. */
  async ask(method, path, body, signal) {
    const { status, answer } = await this.send(method, path, body, signal);
    if (status >= 400) throw new Refused(status, answer);
    return answer;
  }
}

/** Gives the value of a JSON text, null of an empty one, and what is no JSON as text. */
function decoded(text) {
  if (text === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

module.exports = { Connection, Refused, decoded };
