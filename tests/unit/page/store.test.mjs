// The store: what it keeps, whom it tells.

import assert from "node:assert/strict";
import test from "node:test";
import { Store } from "../../../src/skerry/ui/static/js/store.js";

test("who comes late hears what is kept, but not what was of the moment", () => {
  const store = new Store();
  store.set("scene", 1);
  store.tell("event", 2);
  const heard = [];
  store.on("scene", (value) => heard.push(value));
  store.on("event", (value) => heard.push(value));
  assert.deepEqual(heard, [1]);
});

test("one broken listener does not silence the others", () => {
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

test("who has ended it hears no more", () => {
  const store = new Store();
  const heard = [];
  const end = store.on("state", (value) => heard.push(value));
  end();
  store.set("state", 4);
  assert.deepEqual(heard, []);
});
