// A server of berth for each test.
"use strict";
const { Refused } = require("./connection.cjs");
const { findProgram, start } = require("./server.cjs");

module.exports = { Refused, findProgram, start };
