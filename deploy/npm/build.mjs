// Packs berth-test into a directory: build.mjs DIRECTORY. With BERTH_BINARY=path the package has that program inside, and is for its system
// alone. BERTH_VERSION is the version, such as v1.2.3. Prints the path of the package.
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const { BERTH_BINARY: program, BERTH_VERSION: version = "0.0.0" } = process.env;

/** Gives the system and the processor that a program is for, by the names of npm. */
function system(path) {
  const head = readFileSync(path).subarray(0, 20);
  const [os, cpu] =
    head.readUInt32BE(0) === 0x7f454c46
      ? ["linux", { 0x3e: "x64", 0xb7: "arm64" }[head.readUInt16LE(18)]]
      : ["darwin", head.readUInt32LE(0) === 0xfeedfacf && { 0x01000007: "x64", 0x0100000c: "arm64" }[head.readUInt32LE(4)]];
  if (!cpu) throw new Error(`BERTH_BINARY: ${path} is no program of Linux or macOS for a 64-bit processor of Intel or Arm`);
  return { os: [os], cpu: [cpu] };
}

const folder = mkdtempSync(join(tmpdir(), "berth-npm-"));
try {
  const description = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
  description.version = version.replace(/^v/, "");
  cpSync(join(here, "lib"), join(folder, "lib"), { recursive: true });
  copyFileSync(join(here, "README.md"), join(folder, "README.md"));
  copyFileSync(join(here, "..", "..", "LICENSE"), join(folder, "LICENSE"));
  if (program) {
    Object.assign(description, system(program));
    mkdirSync(join(folder, "bin"));
    copyFileSync(program, join(folder, "bin", "berth"));
    chmodSync(join(folder, "bin", "berth"), 0o755);
  }

  writeFileSync(join(folder, "package.json"), JSON.stringify(description, null, 2) + "\n");
  const to = resolve(process.argv[2] ?? ".");
  const [packed] = JSON.parse(execFileSync("npm", ["pack", "--json", "--pack-destination", to], { cwd: folder, encoding: "utf8" }));
  console.log(join(to, packed.filename));
} finally {
  rmSync(folder, { recursive: true });
}
