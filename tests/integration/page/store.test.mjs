// The store keeps values and notifies listeners.

import assert from "node:assert/strict";
import test from "node:test";
import { Store } from "../../../src/skerry/ui/static/js/store.js";

test("a late listener gets stored values, but not earlier notifications", () => {
  const store = new Store();
  store.set("scene", 1);
  store.notify("event", 2);
  const heard = [];
  store.on("scene", (value) => heard.push(value));
  store.on("event", (value) => heard.push(value));
  assert.deepEqual(heard, [1]);
});

test("an error in one listener does not stop the others", () => {
  const store = new Store();
  const heard = [];
  globalThis.reportError = (error) => heard.push(error.message);
  store.on("state", () => {
    throw new Error("broken");
  });
  store.on("state", (value) => heard.push(value));
  store.set("state", 3);
  assert.deepEqual(heard, ["broken", 3]);
});

test("a removed listener is not called", () => {
  const store = new Store();
  const heard = [];
  const end = store.on("state", (value) => heard.push(value));
  end();
  store.set("state", 4);
  assert.deepEqual(heard, []);
});
