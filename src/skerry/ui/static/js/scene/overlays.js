// @ts-check
// Overlays of the 3-D view: each accepts streams, which are subscribed only while the overlay is shown.

import { Acoustics, Contacts, Field, Forces, Gps, Waypoints } from "./simple_overlays.js";
import { Clouds } from "./clouds.js";
import { Frames } from "./frames.js";
import { Names } from "./names.js";
import { Rays } from "./rays.js";
import { Ropes, Winches } from "./ropes.js";
import { Wash } from "./wash.js";

/**
 * Overlay of the view. It is shown while the store's `show:<name>` is true.
 * @typedef {object} Overlay
 * @property {string} name
 * @property {import("../../vendor/three.module.js").Object3D} object
 * @property {(stream: any) => boolean} [accepts] whether the overlay shows a stream of the scene
 * @property {boolean} [chosenOnly] whether it shows only the streams of the chosen robot
 * @property {number} [hz]
 * @property {(message: import("../protocol.js").Message, stream: any) => void} [receive]
 * @property {(seconds: number) => void} [update] called once per frame with the elapsed simulated time, s
 * @property {() => void} clear
 */

/** @type {(new (view: import("./view.js").View) => Overlay)[]} */
const KINDS = [Names, Ropes, Winches, Rays, Clouds, Field, Acoustics, Wash, Waypoints, Forces, Gps, Frames, Contacts];

export class Overlays {
  /** @type {Overlay[]} */
  overlays;
  /** Functions that end the subscriptions, by stream. @type {Map<string, () => void>} */
  #subscribed = new Map();

  /** @param {import("./view.js").View} view */
  constructor(view) {
    this.view = view;
    this.overlays = KINDS.map((Kind) => new Kind(view));
    for (const overlay of this.overlays) {
      view.viewport.scene.add(overlay.object);
      view.store.on(`show:${overlay.name}`, (shown) => {
        overlay.object.visible = shown;
        if (!shown) overlay.clear();
        this.#subscribe();
      });
    }
    view.store.on("robot", () => this.#subscribe());
  }

  /** Subscribe again for a new scene. */
  load() {
    for (const end of this.#subscribed.values()) end();
    this.#subscribed.clear();
    for (const overlay of this.overlays) overlay.clear();
    this.#subscribe();
  }

  /** @param {number} seconds simulated time since the last frame */
  update(seconds) {
    for (const overlay of this.overlays) if (overlay.object.visible) overlay.update?.(seconds);
  }

  #subscribe() {
    const { scene, store, net, chosen } = this.view;
    /** @type {Map<string, {overlay: Overlay, stream: any}>} */
    const wanted = new Map();
    for (const stream of scene?.streams ?? []) {
      const overlay = this.overlays.find((each) => each.accepts?.(stream));
      if (!overlay || !store.get(`show:${overlay.name}`)) continue;
      if (overlay.chosenOnly && stream.robot && stream.robot !== chosen?.name) continue;
      wanted.set(stream.name, { overlay, stream });
    }
    for (const [name, end] of this.#subscribed) {
      if (wanted.has(name)) continue;
      end();
      this.#subscribed.delete(name);
    }
    for (const [name, { overlay, stream }] of wanted) {
      if (this.#subscribed.has(name)) continue;
      const ends = [
        net.subscribe(name, overlay.hz ?? 15),
        store.on(`stream:${name}`, (message) => overlay.receive?.(message, stream)),
      ];
      this.#subscribed.set(name, () => ends.forEach((end) => end()));
    }
  }
}
