// @ts-check
// What every panel is: a piece of the page about the chosen robot, told of changes while it is seen.
import { element } from "./elements.js";

/** @typedef {import("./types.js").Context} Context */

export class Panel {
  static id = "";
  static title = "";
  /** One sentence: what it is for. Tooltip of its title, and its line in the help. */
  static about = "";

  /**
   * Builds it inside an element.
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
    /** Whether what it is about has changed since it was built. */
    this.stale = false;
    /** What ends each subscription, by stream. @type {Map<string, () => void>} */
    this.subscriptions = new Map();
    this.prepare();
    store.on("scene", () => this.again());
    store.on("robot", () => this.again());
    store.on("state", () => this.seen());
  }

  /** Listens to what is the same for all robots. */
  prepare() {}

  /** What it is about anew: another scene, another robot. */
  again() {
    if (!this.store.get("scene")) return;
    this.stale = true;
    this.refresh();
  }

  /** Builds what is seen; what nobody sees is built once somebody does. */
  refresh() {
    if (this.shown && this.stale) {
      this.stale = false;
      this.build();
    }
    this.subscribe();
    this.seen();
  }

  seen() {
    if (this.shown && this.store.get("state") && this.store.get("scene")) this.update();
  }

  /**
   * Tells it whether anybody can see it; what nobody sees asks for no data.
   * @param {boolean} shown
   */
  show(shown) {
    if (shown === this.shown) return;
    this.shown = shown;
    this.refresh();
  }

  /** Asks for the streams that it shows, and no longer for others. */
  subscribe() {
    const wanted = this.shown && this.store.get("scene") ? this.wants() : {};
    for (const [stream, end] of this.subscriptions) {
      if (stream in wanted) continue;
      end();
      this.subscriptions.delete(stream);
    }
    for (const [stream, hz] of Object.entries(wanted)) {
      if (this.subscriptions.has(stream)) continue;
      const forget = this.net.subscribe(stream, hz);
      const deaf = this.store.on(`stream:${stream}`, (message) => this.receive(stream, message));
      this.subscriptions.set(stream, () => {
        forget();
        deaf();
      });
    }
  }

  /** The streams that it shows, and how many messages a second are enough. @returns {Record<string, number>} */
  wants() {
    return {};
  }

  /**
   * Takes a message of a stream that it wants.
   * @param {string} stream
   * @param {import("./types.js").Message} message
   */
  receive(stream, message) {}

  /** Fills `this.body` for the chosen robot. */
  build() {}

  /** Shows the newest state. */
  update() {}

  /** @returns {import("./types.js").Scene} */
  get scene() {
    return this.store.get("scene");
  }

  /** @returns {import("./types.js").State} */
  get state() {
    return this.store.get("state");
  }

  /** The chosen robot as the scene describes it. @returns {import("./types.js").RobotScene | undefined} */
  get robot() {
    return this.scene?.robots.find((robot) => robot.name === this.store.get("robot"));
  }

  /** The chosen robot's state now. @returns {import("./types.js").RobotState | undefined} */
  get live() {
    return this.state?.robots[this.store.get("robot")];
  }

  /**
   * Asks the simulator for something; a refusal is shown in its own words.
   * @param {Record<string, any>} op
   */
  async command(op) {
    const result = await this.net.send(op);
    if (!result.ok) this.store.tell("notice", { text: result.error ?? "The simulator refused.", bad: true });
    return result;
  }

  /**
   * Says in place of content what there is to do.
   * @param {string} text
   */
  empty(text) {
    this.body.replaceChildren(element("p", { class: "empty" }, text));
  }
}
