// The page decodes the messages of protocol.py: both are compared with the bytes in protocol_golden.json.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { decode } from "../../../src/skerry/ui/static/js/protocol.js";

const golden = JSON.parse(readFileSync(new URL("protocol_golden.json", import.meta.url), "utf8"));

/** @param {string} hex */
function bytes(hex) {
  return Uint8Array.from(hex.replaceAll(" ", "").match(/../g), (pair) => parseInt(pair, 16)).buffer;
}

function plain(value) {
  if (ArrayBuffer.isView(value)) return Array.from(value);
  if (Array.isArray(value)) return value.map(plain);
  if (value && typeof value === "object")
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]));
  return value;
}

for (const { name, hex, decoded } of golden) {
  test(`${name} is decoded`, () => assert.deepEqual(plain(decode(bytes(hex))), decoded));
}

test("an unknown kind is refused with an error message", () => {
  assert.throws(() => decode(new ArrayBuffer(16)), /kind 0/);
});
