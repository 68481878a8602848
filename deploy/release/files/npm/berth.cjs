#!/usr/bin/env node
// Runs the program of the package for this system, and ends as it does.
"use strict";
const { spawn } = require("node:child_process");

const name = `@berthdev/berth-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/berth${process.platform === "win32" ? ".exe" : ""}`);
} catch {
  console.error(`berth: the package ${name} is not installed. It comes with berth-server unless npm omits optional dependencies, or there is none for this system.`);
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
child.on("error", (err) => {
  console.error(`berth: ${err.message}`);
  process.exit(1);
});
// A terminal sends SIGINT to the program as well: a second one would not let it end in order.
process.on("SIGINT", () => process.stdin.isTTY || child.kill("SIGINT"));
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => {
  if (!signal) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
