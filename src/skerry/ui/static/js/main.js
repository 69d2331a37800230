// @ts-check
// Starts the page: store, connection, 3-D view, panels, and the loop that draws.

import { Net } from "./net.js";
import { mountPanels } from "./panels/index.js";
import { FIRST_VALUES } from "./scene/switches.js";
import { View } from "./scene/view.js";
import { Store } from "./store.js";

const PATIENCE = 4000; // ms after which panels are shown without a view

performance.mark("modules");
const store = new Store();
for (const [key, value] of Object.entries(FIRST_VALUES)) store.set(key, value);
const net = new Net(store);
net.connect(); // what it says is heard when all of this has run

/** What tests look at. */
const page = {
  store,
  net,
  ready: false,
  /** @type {View | null} */
  scene: null,
  fps: 0,
  received: net.received,
  /** @type {string[]} */
  errors: [],
};
Object.assign(window, { __ui: page });
addEventListener("error", ({ message }) => page.errors.push(message));
addEventListener("unhandledrejection", ({ reason }) => page.errors.push(String(reason)));

/** @type {Record<string, HTMLElement>} */
const slots = {};
for (const element of document.querySelectorAll("[data-slot]")) {
  if (element instanceof HTMLElement) slots[element.dataset.slot ?? ""] = element;
}

/**
 * @param {string} id
 * @returns {any} an element that index.html has
 */
function part(id) {
  return document.getElementById(id);
}

/**
 * Panels are painted with the first frame of the view, and their ornaments after it: on a machine that draws in software each of
 * them holds up the other.
 * @param {"loaded" | "drawn"} stage
 */
function reveal(stage) {
  if (document.body.dataset.stage !== "drawn") document.body.dataset.stage = stage;
}

/** @param {string | null} text */
function say(text) {
  const notice = part("notice");
  notice.hidden = text === null;
  notice.textContent = text;
  if (text !== null) reveal("loaded");
}

try {
  page.scene = new View({ store, net, canvas: part("scene"), labels: part("labels"), say });
} catch (error) {
  // The panels work without WebGL.
  say(`The 3-D view cannot start: ${error instanceof Error ? error.message : error}`);
}
const scene = page.scene;

store.on("scene", async (description) => {
  page.ready = false;
  store.set("drawn", false);
  performance.mark("scene");
  try {
    await scene?.load(description);
    performance.mark("loaded");
    reveal("loaded");
    if (store.get("scene") === description) awaited = description;
    if (scene === null) show();
  } catch (error) {
    // Most often the simulator went away meanwhile; when it is back, it sends the scene again.
    say(`The scene could not be loaded: ${error instanceof Error ? error.message : error}`);
  }
});
setTimeout(() => reveal("loaded"), PATIENCE);
let told = "connecting";
store.on("link", (link) => {
  if (link === "lost") say("The simulator does not answer; trying again …");
  else if (link === "live" && told === "lost") say(null);
  if (link !== "connecting") told = link;
});

mountPanels(slots, { store, net });
performance.mark("panels");

/** The scene of which no frame has been drawn yet. @type {any} */
let awaited = null;

/** The first frame of a scene is on its way to the screen: what comes after it may cost something now. */
function show() {
  page.ready = true;
  performance.mark("ready");
  reveal("drawn");
  store.set("drawn", true);
}

let frames = 0;
let counted = performance.now();
/** @param {number} now */
function draw(now) {
  requestAnimationFrame(draw);
  net.drawn();
  if (scene?.draw(now) && awaited === scene.scene) {
    awaited = null;
    requestAnimationFrame(show);
  }
  frames += 1;
  if (now - counted >= 1000) {
    page.fps = (1000 * frames) / (now - counted);
    frames = 0;
    counted = now;
  }
}
requestAnimationFrame(draw);
