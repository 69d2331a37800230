// @ts-check
// The keyboard: keys that are held drive the chosen robot, and a few shortcuts of the page.

/** @typedef {import("./store.js").Store} Store */
/** @typedef {import("./net.js").Net} Net */

const HEARTBEAT = 200; // ms between two messages while keys are held; the simulator lets go after 500 ms of silence
const NAMES = { ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right", " ": "space", Shift: "shift" };

/** What a browser calls a key, as robots call it. @param {KeyboardEvent} event */
function nameOf(event) {
  return NAMES[/** @type {keyof typeof NAMES} */ (event.key)] ?? event.key.toLowerCase();
}

/**
 * Whether the focused control uses this key itself: fields use all, buttons and sliders the space bar and arrows.
 * @param {KeyboardEvent} event
 */
function isTaken(event) {
  const target = event.target;
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest("dialog, textarea, select, input:not([type=range], [type=checkbox], [type=radio])")) return true;
  const control = target.closest("button, summary, input, [role=tab], [role=radio], .key");
  return control !== null && (event.key.startsWith("Arrow") || event.key === " " || event.key === "Shift");
}

/** Holds keys down for the chosen robot, and lets go of all of them as soon as nobody can be sure any more. */
export class Driving {
  /** @type {Set<string>} */
  #held = new Set();
  #sequence = 0;
  #robot = "";
  #flying = false;
  #refused = false;

  /** @param {{store: Store, net: Net}} parts */
  constructor({ store, net }) {
    this.store = store;
    this.net = net;
    addEventListener("keydown", (event) => this.#down(event));
    addEventListener("keyup", (event) => this.release(nameOf(event)));
    addEventListener("blur", () => this.releaseAll());
    document.addEventListener("visibilitychange", () => document.hidden && this.releaseAll());
    // While the right button is down, keys fly the camera.
    addEventListener("pointerdown", ({ button }) => {
      if (button !== 2) return;
      this.#flying = true;
      this.releaseAll();
    });
    addEventListener("pointerup", ({ button }) => {
      if (button === 2) this.#flying = false;
    });
    store.on("robot", () => this.releaseAll());
    store.on("scene", () => this.releaseAll());
    store.on("link", (link) => link !== "live" && this.releaseAll());
    setInterval(() => this.#held.size && net.tell(this.#message()), HEARTBEAT);
  }

  /** Whether the chosen robot has this key. @param {string} key */
  knows(key) {
    const robot = this.store.get("scene")?.robots.find((/** @type {any} */ one) => one.name === this.store.get("robot"));
    return robot?.keys.some((/** @type {any} */ one) => one.key === key) ?? false;
  }

  /** @param {string} key */
  press(key) {
    if (this.#held.has(key) || !this.knows(key)) return;
    const robot = this.store.get("robot");
    const control = this.store.get("state")?.robots[robot]?.control;
    if (control && control !== "manual" && control !== "mixed") {
      const who = control === "external" ? "ROS" : `its ${control}`;
      this.store.tell("notice", { text: `${robot} listens to ${who}, not to keys. Choose Manual to drive it.`, bad: true });
      return;
    }
    this.#robot = robot;
    this.#held.add(key);
    this.#tell();
  }

  /** @param {string} key */
  release(key) {
    if (this.#held.delete(key)) this.#tell();
  }

  releaseAll() {
    if (!this.#held.size) return;
    this.#held.clear();
    this.#tell();
  }

  async #tell() {
    this.store.set("held", [...this.#held]);
    const { ok, error } = await this.net.send(this.#message());
    // Said once, not at every key.
    if (!ok && !this.#refused) this.store.tell("notice", { text: error, bad: true });
    this.#refused = !ok;
  }

  #message() {
    this.#sequence += 1;
    return { op: "keys", robot: this.#robot, held: [...this.#held], seq: this.#sequence };
  }

  /** @param {KeyboardEvent} event */
  #down(event) {
    const key = nameOf(event);
    if (event.ctrlKey || event.metaKey || event.altKey || this.#flying || isTaken(event) || !this.knows(key)) return;
    if (key === "shift" && this.store.get("tool")) return; // tools of the view use it
    event.preventDefault(); // the space bar and arrows scroll
    if (!event.repeat) this.press(key);
  }
}

/**
 * Lets keys of the page itself do something, unless the robot has them or a field is being written in.
 * @param {Driving} driving
 * @param {Record<string, (event: KeyboardEvent) => void>} shortcuts by the browser's name of the key, small letters
 */
export function listenToShortcuts(driving, shortcuts) {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || document.querySelector("dialog[open]")) return;
    const act = shortcuts[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act || driving.knows(nameOf(event)) || (event.key.length === 1 && isTaken(event))) return;
    event.preventDefault();
    act(event);
  });
}

/**
 * Gives the keyboard back to the robot after a control was used by mouse; who came by Tab keeps the focus.
 * @param {Document} page
 */
export function returnFocusAfterMouse(page) {
  const back = () => {
    const control = page.activeElement;
    if (control instanceof HTMLElement && control.closest("button, summary, input[type=range], input[type=checkbox]")) control.blur();
  };
  page.addEventListener("click", (event) => event instanceof PointerEvent && event.pointerType && back());
  page.addEventListener("change", (event) => {
    if (event.target instanceof HTMLSelectElement) event.target.blur();
  });
}
