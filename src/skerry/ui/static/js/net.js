// @ts-check
// The WebSocket of the page: requests, messages, subscriptions, acknowledgements, and reconnection after a loss.

import { decode } from "./protocol.js";

/** @typedef {import("./store.js").Store} Store */
/** @typedef {{ok: boolean, error?: string, result?: any}} Result */

const FIRST_WAIT = 500; // ms before the first attempt to reconnect; doubled after each failure
const MAX_WAIT = 4000; // ms between two attempts to reconnect
const ACKNOWLEDGE_COUNT = 8; // drawn messages after which an acknowledgement is sent; a third of the number that may be in flight
const ACKNOWLEDGE_PERIOD = 50; // ms after which fewer drawn messages are acknowledged
const PING_PERIOD = 1000; // ms between two pings
const FIRST_STREAM = "pose"; // stream needed for the first frame of a scene; the others are subscribed after it

export class Net {
  /** Bytes and binary messages since the page was opened, and the last round-trip time, ms. */
  statistics = { bytes: 0, messages: 0, roundTrip: NaN };
  /** Number of messages by stream. @type {Record<string, number>} */
  received = {};

  #store;
  /** @type {WebSocket | null} */
  #socket = null;
  /** @type {Map<number, (result: Result) => void>} */
  #pending = new Map();
  #nextId = 1;
  /** Rate, Hz, of each subscriber of a stream. @type {Map<string, Map<symbol, number>>} */
  #subscriptions = new Map();
  /** @type {Map<number, string>} */
  #streamNames = new Map();
  #subscribing = false;
  #arrived = 0;
  #acknowledged = 0;
  #acknowledgedAt = 0;
  #wait = FIRST_WAIT;

  /** @param {Store} store */
  constructor(store) {
    this.#store = store;
    store.on("drawn", () => this.#subscribeSoon());
    setInterval(() => this.#write({ op: "ping", t: performance.now() }), PING_PERIOD);
  }

  connect() {
    this.#store.set("link", "connecting");
    const address = new URL("ws", document.baseURI);
    address.protocol = address.protocol.replace("http", "ws");
    address.search = location.search; // contains the access token, if there is one
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
      for (const done of this.#pending.values()) done({ ok: false, error: "the connection to the simulator was lost" });
      this.#pending.clear();
      setTimeout(() => this.connect(), this.#wait);
      this.#wait = Math.min(2 * this.#wait, MAX_WAIT);
    };
  }

  /**
   * Send a request to the simulator. The promise never rejects; the result contains the error.
   * @param {Record<string, any>} request
   * @returns {Promise<Result>}
   */
  send(request) {
    const id = this.#nextId++;
    if (!this.#write({ ...request, id })) return Promise.resolve({ ok: false, error: "the page is not connected to the simulator" });
    return new Promise((done) => this.#pending.set(id, done));
  }

  /**
   * Send a request that has no reply, such as the keys that are held.
   * @param {Record<string, any>} request
   */
  post(request) {
    this.#write(request);
  }

  /**
   * Subscribe to a stream at a rate. The store notifies the listeners of `stream:<name>`. The highest rate of all subscribers counts.
   * @param {string} stream
   * @param {number} [hz] messages per second, at most
   * @returns {() => void} function that ends the subscription
   */
  subscribe(stream, hz = 15) {
    const subscriber = Symbol(stream);
    const rates = this.#subscriptions.get(stream) ?? new Map();
    this.#subscriptions.set(stream, rates.set(subscriber, hz));
    this.#subscribeSoon();
    return () => {
      rates.delete(subscriber);
      if (!rates.size && this.#subscriptions.get(stream) === rates) this.#subscriptions.delete(stream);
      this.#subscribeSoon();
    };
  }

  /** Acknowledge the messages that have been drawn, so that the server sends more. A hidden page draws nothing and gets nothing. */
  drawn() {
    const count = this.#arrived - this.#acknowledged;
    const now = performance.now();
    if (!count || (count < ACKNOWLEDGE_COUNT && now - this.#acknowledgedAt < ACKNOWLEDGE_PERIOD)) return;
    if (this.#write({ op: "ack", n: this.#arrived })) [this.#acknowledged, this.#acknowledgedAt] = [this.#arrived, now];
  }

  // Several changes at the same time are sent as one message.
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
    for (const [name, rates] of this.#subscriptions) {
      if (drawn || name === FIRST_STREAM) streams[name] = { hz: Math.max(...rates.values()) };
    }
    this.#write({ op: "sub", streams });
  }

  /** @param {Record<string, any>} request */
  #write(request) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(request));
    return true;
  }

  /** @param {string} text */
  #readText(text) {
    this.statistics.bytes += text.length;
    const message = JSON.parse(text);
    if (message.type === "result") {
      this.#pending.get(message.id)?.(message);
      this.#pending.delete(message.id);
    } else if (message.type === "pong") {
      this.statistics.roundTrip = performance.now() - message.t;
    } else if (message.type === "event") {
      this.#store.notify("event", message);
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
    if (name === undefined) return; // a message of the previous scene
    this.received[name] = (this.received[name] ?? 0) + 1;
    this.#store.notify(`stream:${name}`, message);
  }
}
