// @ts-check
// The one WebSocket of the page: operations out, messages in, subscriptions, acknowledgements, and coming back after a loss.

import { decode } from "./protocol.js";

/** @typedef {import("./store.js").Store} Store */
/** @typedef {{ok: boolean, error?: string, result?: any}} Result */

const FIRST_WAIT = 500; // ms before the first attempt to come back; doubles
const LONGEST_WAIT = 4000; // ms
const ACKNOWLEDGED_TOGETHER = 8; // messages, a third of those that may be under way; fewer are told
const ACKNOWLEDGE_EVERY = 50; // ms
const PING_EVERY = 1000; // ms
const FIRST = "pose"; // what a scene is drawn with; other streams are asked for when it is on the screen

export class Net {
  /** Bytes and binary messages since the page was opened, and the last round trip. */
  statistics = { bytes: 0, messages: 0, roundTrip: NaN };
  /** Messages by stream. @type {Record<string, number>} */
  received = {};

  #store;
  /** @type {WebSocket | null} */
  #socket = null;
  /** @type {Map<number, (result: Result) => void>} */
  #waiting = new Map();
  #nextId = 1;
  /** Who wants which stream, how often. @type {Map<string, Map<symbol, number>>} */
  #wanted = new Map();
  /** @type {Map<number, string>} */
  #streamNames = new Map();
  #subscribing = false;
  #arrived = 0;
  #acknowledged = 0;
  #told = 0;
  #wait = FIRST_WAIT;

  /** @param {Store} store */
  constructor(store) {
    this.#store = store;
    store.on("drawn", () => this.#subscribeSoon());
    setInterval(() => this.#write({ op: "ping", t: performance.now() }), PING_EVERY);
  }

  connect() {
    this.#store.set("link", "connecting");
    const address = new URL("ws", document.baseURI);
    address.protocol = address.protocol.replace("http", "ws");
    address.search = location.search; // carries the token, where there is one
    const socket = (this.#socket = new WebSocket(address));
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.#wait = FIRST_WAIT;
      this.#arrived = this.#acknowledged = 0;
      this.#store.set("link", "live");
      this.#sendSubscriptions();
    };
    socket.onmessage = ({ data }) => (typeof data === "string" ? this.#readText(data) : this.#readBinary(data));
    socket.onclose = () => {
      this.#store.set("link", "lost");
      for (const done of this.#waiting.values()) done({ ok: false, error: "the connection was lost" });
      this.#waiting.clear();
      setTimeout(() => this.connect(), this.#wait);
      this.#wait = Math.min(2 * this.#wait, LONGEST_WAIT);
    };
  }

  /**
   * Ask the simulator for something. Never rejects: what went wrong is in the result.
   * @param {Record<string, any>} operation
   * @returns {Promise<Result>}
   */
  send(operation) {
    const id = this.#nextId++;
    if (!this.#write({ ...operation, id })) return Promise.resolve({ ok: false, error: "not connected" });
    return new Promise((done) => this.#waiting.set(id, done));
  }

  /**
   * Say something that is not answered, such as the keys that are held.
   * @param {Record<string, any>} operation
   */
  tell(operation) {
    this.#write(operation);
  }

  /**
   * Want a stream, at most `hz` times a second; its messages come as `stream:<name>` of the store. The highest wish counts.
   * @param {string} stream
   * @param {number} [hz]
   * @returns {() => void} ends the wish
   */
  subscribe(stream, hz = 15) {
    const wish = Symbol(stream);
    const wishes = this.#wanted.get(stream) ?? new Map();
    this.#wanted.set(stream, wishes.set(wish, hz));
    this.#subscribeSoon();
    return () => {
      wishes.delete(wish);
      if (!wishes.size && this.#wanted.get(stream) === wishes) this.#wanted.delete(stream);
      this.#subscribeSoon();
    };
  }

  /** What has arrived is drawn: the server may send more. A hidden page draws nothing, so it gets nothing. */
  drawn() {
    const count = this.#arrived - this.#acknowledged;
    const now = performance.now();
    if (!count || (count < ACKNOWLEDGED_TOGETHER && now - this.#told < ACKNOWLEDGE_EVERY)) return;
    if (this.#write({ op: "ack", n: this.#arrived })) [this.#acknowledged, this.#told] = [this.#arrived, now];
  }

  // A panel that opens and another that closes are one message.
  #subscribeSoon() {
    if (this.#subscribing) return;
    this.#subscribing = true;
    setTimeout(() => {
      this.#subscribing = false;
      this.#sendSubscriptions();
    });
  }

  #sendSubscriptions() {
    /** @type {Record<string, {hz: number}>} */
    const streams = {};
    const drawn = this.#store.get("drawn");
    for (const [name, wishes] of this.#wanted) {
      if (drawn || name === FIRST) streams[name] = { hz: Math.max(...wishes.values()) };
    }
    this.#write({ op: "sub", streams });
  }

  /** @param {Record<string, any>} operation */
  #write(operation) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(operation));
    return true;
  }

  /** @param {string} text */
  #readText(text) {
    this.statistics.bytes += text.length;
    const message = JSON.parse(text);
    if (message.type === "result") {
      this.#waiting.get(message.id)?.(message);
      this.#waiting.delete(message.id);
    } else if (message.type === "pong") {
      this.statistics.roundTrip = performance.now() - message.t;
    } else if (message.type === "event") {
      this.#store.tell("event", message);
    } else {
      if (message.type === "scene") {
        this.#streamNames = new Map(message.streams.map((/** @type {any} */ stream) => [stream.id, stream.name]));
      }
      this.#store.set(message.type, message);
    }
  }

  /** @param {ArrayBuffer} buffer */
  #readBinary(buffer) {
    this.#arrived += 1;
    this.statistics.bytes += buffer.byteLength;
    this.statistics.messages += 1;
    const message = decode(buffer);
    const name = this.#streamNames.get(message.stream);
    if (name === undefined) return; // of a scene that has just been replaced
    this.received[name] = (this.received[name] ?? 0) + 1;
    this.#store.tell(`stream:${name}`, message);
  }
}
