// @ts-check
// Keyboard input: held keys drive the chosen robot, and shortcuts control the page.

/** @typedef {import("./store.js").Store} Store */
/** @typedef {import("./net.js").Net} Net */

const REPEAT = 200; // ms between two messages while keys are held; the watchdog of the robot's keyboard releases keys that are not repeated
const NAMES = { ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right", " ": "space", Shift: "shift" };

/** Return the name of a key in the key map of a robot. @param {KeyboardEvent} event */
function keyName(event) {
  return NAMES[/** @type {keyof typeof NAMES} */ (event.key)] ?? event.key.toLowerCase();
}

/**
* Return whether the focused control uses this key: fields use all keys; buttons and sliders use the space bar and the arrows.
 * @param {KeyboardEvent} event
 */
function isUsedByFocus(event) {
  const target = event.target;
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest("dialog, textarea, select, input:not([type=range], [type=checkbox], [type=radio])")) return true;
  const control = target.closest("button, summary, input, [role=tab], [role=radio], .key");
  return control !== null && (event.key.startsWith("Arrow") || event.key === " " || event.key === "Shift");
}

/** Holds keys down for the chosen robot. Releases all keys when the page loses the focus, the connection or the robot. */
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
    addEventListener("keyup", (event) => this.release(keyName(event)));
    addEventListener("blur", () => this.releaseAll());
    document.addEventListener("visibilitychange", () => document.hidden && this.releaseAll());
    // While the right button is down, the keys move the camera.
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
    setInterval(() => this.#held.size && net.post(this.#message()), REPEAT);
  }

  /** Return whether the chosen robot has this key. @param {string} key */
  hasKey(key) {
    const robot = this.store.get("scene")?.robots.find((/** @type {any} */ one) => one.name === this.store.get("robot"));
    return robot?.keys.some((/** @type {any} */ one) => one.key === key) ?? false;
  }

  /** @param {string} key */
  press(key) {
    if (this.#held.has(key) || !this.hasKey(key)) return;
    const robot = this.store.get("robot");
    const control = this.store.get("state")?.robots[robot]?.control;
    if (control && control !== "manual" && control !== "mixed") {
      const source = control === "external" ? "an external client" : `its ${control}`;
      this.store.notify("notice", { text: `${robot} is controlled by ${source}, and ignores keys. Choose Manual to drive it.`, bad: true });
      return;
    }
    this.#robot = robot;
    this.#held.add(key);
    this.#sendKeys();
  }

  /** @param {string} key */
  release(key) {
    if (this.#held.delete(key)) this.#sendKeys();
  }

  releaseAll() {
    if (!this.#held.size) return;
    this.#held.clear();
    this.#sendKeys();
  }

  async #sendKeys() {
    this.store.set("held", [...this.#held]);
    const { ok, error } = await this.net.send(this.#message());
    // The notice is shown once, not for every key.
    if (!ok && !this.#refused) this.store.notify("notice", { text: error, bad: true });
    this.#refused = !ok;
  }

  #message() {
    this.#sequence += 1;
    return { op: "keys", robot: this.#robot, held: [...this.#held], seq: this.#sequence };
  }

  /** @param {KeyboardEvent} event */
  #down(event) {
    const key = keyName(event);
    if (event.ctrlKey || event.metaKey || event.altKey || this.#flying || isUsedByFocus(event) || !this.hasKey(key)) return;
    if (key === "shift" && this.store.get("tool")) return; // the tools of the 3-D view use this key
    event.preventDefault(); // the space bar and the arrows would scroll the page
    if (!event.repeat) this.press(key);
  }
}

/**
* Register the keyboard shortcuts of the page. Keys of the robot and keys in a focused field are ignored.
 * @param {Driving} driving
 * @param {Record<string, (event: KeyboardEvent) => void>} shortcuts actions by the browser's name of the key, in lower case
 */
export function listenToShortcuts(driving, shortcuts) {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || document.querySelector("dialog[open]")) return;
    const act = shortcuts[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act || driving.hasKey(keyName(event)) || (event.key.length === 1 && isUsedByFocus(event))) return;
    event.preventDefault();
    act(event);
  });
}

/**
* Remove the focus from a control after a click, so that the keys drive the robot. Controls reached by Tab keep the focus.
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
