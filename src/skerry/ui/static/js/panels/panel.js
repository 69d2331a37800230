// @ts-check
// Base class of all panels. A panel shows data of the chosen robot, and is updated while it is visible.
import { element } from "./elements.js";

/** @typedef {import("./types.js").Context} Context */

export class Panel {
  static id = "";
  static title = "";
  /** Purpose of the panel in one sentence, for the tooltip of its title and for the help. */
  static about = "";

  /**
   * Build the panel inside an element.
   * @param {HTMLElement} body
   * @param {Context} context
   */
  mount(body, context) {
    const { store, net } = context;
    this.context = context;
    this.body = body;
    this.store = store;
    this.net = net;
    /** @type {boolean} */
    this.shown = false;
    /** Whether the scene or the robot has changed since the panel was built. */
    this.stale = false;
    /** Functions that end the subscriptions, by stream. @type {Map<string, () => void>} */
    this.subscriptions = new Map();
    this.prepare();
    store.on("scene", () => this.rebuild());
    store.on("robot", () => this.rebuild());
    store.on("state", () => this.updateIfShown());
  }

  /** Create the parts of the panel that are the same for all robots. */
  prepare() {}

  /** Rebuild the panel for another scene or another robot. */
  rebuild() {
    if (!this.store.get("scene")) return;
    this.stale = true;
    this.refresh();
  }

  /** Rebuild the panel if it is visible and stale. A hidden panel is rebuilt when it becomes visible. */
  refresh() {
    if (this.shown && this.stale) {
      this.stale = false;
      this.build();
    }
    this.subscribe();
    this.updateIfShown();
  }

  updateIfShown() {
    if (this.shown && this.store.get("state") && this.store.get("scene")) this.update();
  }

  /**
   * Set whether the panel is visible. A hidden panel subscribes to no streams.
   * @param {boolean} shown
   */
  show(shown) {
    if (shown === this.shown) return;
    this.shown = shown;
    this.refresh();
  }

  /** Subscribe to the streams that the panel shows now, and end all other subscriptions. */
  subscribe() {
    const rates = this.shown && this.store.get("scene") ? this.streamRates() : {};
    for (const [stream, end] of this.subscriptions) {
      if (stream in rates) continue;
      end();
      this.subscriptions.delete(stream);
    }
    for (const [stream, hz] of Object.entries(rates)) {
      if (this.subscriptions.has(stream)) continue;
      const unsubscribe = this.net.subscribe(stream, hz);
      const unlisten = this.store.on(`stream:${stream}`, (message) => this.receive(stream, message));
      this.subscriptions.set(stream, () => {
        unsubscribe();
        unlisten();
      });
    }
  }

  /** Return the streams that the panel shows, with their rates, Hz. @returns {Record<string, number>} */
  streamRates() {
    return {};
  }

  /**
   * Handle a message of a subscribed stream.
   * @param {string} stream
   * @param {import("./types.js").Message} message
   */
  receive(stream, message) {}

  /** Fill `this.body` for the chosen robot. */
  build() {}

  /** Show the latest state. */
  update() {}

  /** @returns {import("./types.js").Scene} */
  get scene() {
    return this.store.get("scene");
  }

  /** @returns {import("./types.js").State} */
  get state() {
    return this.store.get("state");
  }

  /** Description of the chosen robot in the scene. @returns {import("./types.js").RobotScene | undefined} */
  get robot() {
    return this.scene?.robots.find((robot) => robot.name === this.store.get("robot"));
  }

  /** Latest state of the chosen robot. @returns {import("./types.js").RobotState | undefined} */
  get live() {
    return this.state?.robots[this.store.get("robot")];
  }

  /**
   * Send a request to the simulator, and show its error, if any, as a notice.
   * @param {Record<string, any>} op
   */
  async command(op) {
    const result = await this.net.send(op);
    if (!result.ok) this.store.notify("notice", { text: result.error ?? "The simulator refused the request.", bad: true });
    return result;
  }

  /**
   * Show a text in place of the content.
   * @param {string} text
   */
  empty(text) {
    this.body.replaceChildren(element("p", { class: "empty" }, text));
  }
}
