// Compiled, not run: the types of what a test in TypeScript writes, with require.
import berth = require("berth-test");

export const server: Promise<berth.Server> = berth.start({ program: berth.findProgram() });
