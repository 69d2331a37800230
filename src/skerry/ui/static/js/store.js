// @ts-check
// Observable store: values by key, and listeners that are called when a value changes.

/** @typedef {(value: any) => void} Listener */

export class Store {
  /** @type {Map<string, any>} */
  #values = new Map();
  /** @type {Map<string, Set<Listener>>} */
  #listeners = new Map();

  /**
   * Call a listener with the present value of a key, if there is one, and after every change.
   * @param {string} key
   * @param {Listener} listener
   * @returns {() => void} function that removes the listener
   */
  on(key, listener) {
    const listeners = this.#listeners.get(key) ?? new Set();
    this.#listeners.set(key, listeners.add(listener));
    if (this.#values.has(key)) listener(this.#values.get(key));
    return () => listeners.delete(listener);
  }

  /**
   * @param {string} key
   * @returns {any}
   */
  get(key) {
    return this.#values.get(key);
  }

  /**
   * Store a value, and notify the listeners of its key.
   * @param {string} key
   * @param {any} value
   */
  set(key, value) {
    this.#values.set(key, value);
    this.notify(key, value);
  }

  /**
   * Notify the listeners of a key without storing the value: for events and messages of streams.
   * @param {string} key
   * @param {any} value
   */
  notify(key, value) {
    for (const listener of [...(this.#listeners.get(key) ?? [])]) {
      // An error in one panel must not stop the other panels or the 3-D view.
      try {
        listener(value);
      } catch (error) {
        reportError(error);
      }
    }
  }
}
