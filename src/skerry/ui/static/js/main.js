// @ts-check
// Start the page: store, connection, 3-D view, panels, and the animation loop.

import { Net } from "./net.js";
import { mountPanels } from "./panels/index.js";
import { FIRST_VALUES } from "./scene/switches.js";
import { View } from "./scene/view.js";
import { Store } from "./store.js";

const VIEW_TIMEOUT = 4000; // ms after which the panels are shown even if the view has no frame yet

performance.mark("modules");
const store = new Store();
for (const [key, value] of Object.entries(FIRST_VALUES)) store.set(key, value);
const net = new Net(store);
net.connect(); // its messages arrive after this module has run

/** Objects for the tests. */
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
* @returns {any} element of index.html
 */
function part(id) {
  return document.getElementById(id);
}

/**
* Show the panels with the first frame of the view, and icons and shadows after it. On a machine that draws in software,
 * painting the panels earlier would delay the first frame.
 * @param {"loaded" | "drawn"} stage
 */
function reveal(stage) {
  if (document.body.dataset.stage !== "drawn") document.body.dataset.stage = stage;
}

/** @param {string | null} text */
function showNotice(text) {
  const notice = part("notice");
  notice.hidden = text === null;
  notice.textContent = text;
  if (text !== null) reveal("loaded");
}

try {
  page.scene = new View({ store, net, canvas: part("scene"), labels: part("labels"), showNotice });
} catch (error) {
  // The panels also work without WebGL.
  showNotice(`The 3-D view cannot start: ${error instanceof Error ? error.message : error}`);
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
    // The usual cause is a lost connection. The simulator sends the scene again after the page has reconnected.
    showNotice(`The scene could not be loaded: ${error instanceof Error ? error.message : error}`);
  }
});
setTimeout(() => reveal("loaded"), VIEW_TIMEOUT);
let lastLink = "connecting";
store.on("link", (link) => {
  if (link === "lost") showNotice("The simulator does not answer; reconnecting …");
  else if (link === "live" && lastLink === "lost") showNotice(null);
  if (link !== "connecting") lastLink = link;
});

mountPanels(slots, { store, net });
performance.mark("panels");

/** Scene that is loaded and of which no frame has been drawn yet. @type {any} */
let awaited = null;

/** Mark the page as ready after the first frame of a scene, so that less urgent work can start. */
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
