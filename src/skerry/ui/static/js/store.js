// @ts-check
// A tiny observable: what the page knows, by key, and who wants to hear of it.

/** @typedef {(value: any) => void} Listener */

export class Store {
  /** @type {Map<string, any>} */
  #values = new Map();
  /** @type {Map<string, Set<Listener>>} */
  #listeners = new Map();

  /**
   * Hear of a key: at once if it has a value, then at every change. Returns the function that ends it.
   * @param {string} key
   * @param {Listener} listener
   * @returns {() => void}
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
   * Keep a value and tell it.
   * @param {string} key
   * @param {any} value
   */
  set(key, value) {
    this.#values.set(key, value);
    this.tell(key, value);
  }

  /**
   * Tell something that is of the moment only: an event, a message of a stream. Later listeners do not hear it.
   * @param {string} key
   * @param {any} value
   */
  tell(key, value) {
    for (const listener of [...(this.#listeners.get(key) ?? [])]) {
      // One broken panel must not stop the others, nor the 3-D view.
      try {
        listener(value);
      } catch (error) {
        reportError(error);
      }
    }
  }
}
