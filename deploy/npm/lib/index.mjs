import berth from "./index.cjs";

export const { Refused, findProgram, start } = berth;
