// @ts-check
// Panel with the map: north up, robots with their tracks, a geographic grid, and waypoints by click.
import { button, element, figure, context2d, write } from "./elements.js";
import { Relief } from "./relief.js";
import { Panel } from "./panel.js";

const TRACK = 3000; // points of the track of each robot
const STRIDE = 0.3; // m between two points of a track
const METRES_PER_DEGREE = 111_320; // metres per degree of latitude, 40 075 km / 360; accurate enough for a grid on a map
const TRACK_COLOURS = ["#e69f00", "#56b4e9", "#009e73", "#cc79a7", "#d55e00", "#0072b2"];

/** Return the smallest 1, 2 or 5 times a power of ten that is not below a number. @param {number} least */
function roundStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5, 10].find((digit) => digit * power >= least) ?? 10);
}

export class WorldMap extends Panel {
  static id = "map";
  static title = "Map";
  static about = "Robots and their tracks from above. Drag to move, use the wheel to zoom, click to choose a position for the robot.";

  prepare() {
    /** @type {Map<string, number[][]>} */
    this.tracks = new Map();
    this.scale = 4; // pixels per metre
    this.centre = [0, 0];
    this.following = true;
    this.relief = new Relief();
    this.store.on("state", () => this.remember());
    this.canvas = element("canvas", { class: "map", tabindex: 0, testid: "map", role: "img", "aria-label": "Map; the panel Send, move, leak does the same by keyboard" });
    this.canvas.addEventListener("wheel", (/** @type {WheelEvent} */ event) => {
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? 1.25 : 0.8);
    });
    this.listenToPointer();
    this.follow = button("target", "Follow the chosen robot", { class: "icon-only", testid: "map-follow", on: { click: () => this.setFollowing(true) } });
    const nearer = button("plus", "Zoom in", { class: "icon-only", testid: "map-nearer", on: { click: () => this.zoom(1.5) } });
    const farther = button("minus", "Zoom out", { class: "icon-only", testid: "map-farther", on: { click: () => this.zoom(1 / 1.5) } });
    const clear = button("close", "Clear the tracks", { class: "icon-only", testid: "map-clear", on: { click: () => this.tracks.clear() } });
    this.where = element("span", { class: "note", testid: "map-where" }, "Click to choose a position");
    const go = button("send", "Send the chosen robot to this position", { testid: "map-go", on: { click: () => this.go() } }, "Go there");
    this.goButton = go;
    this.body.replaceChildren(this.canvas, element("div", { class: "map-tools" }, nearer, farther, this.follow, clear), element("div", { class: "map-place" }, this.where, go));
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  build() {
    if (this.shownScene !== this.scene) {
      /** @type {import("./types.js").Scene} */
      this.shownScene = this.scene;
      this.tracks.clear();
      this.place = null;
      this.relief.load(this.scene).then(() => this.draw());
    }
    this.setFollowing(true);
    this.goButton.disabled = !this.robot?.controllers.some(({ waypoints }) => waypoints) || !this.place;
  }

  /** @param {boolean} following */
  setFollowing(following) {
    this.following = following;
    this.follow.setAttribute("aria-pressed", String(following));
    this.draw();
  }

  /** @param {number} factor */
  zoom(factor) {
    this.scale = Math.min(80, Math.max(0.05, this.scale * factor));
    this.draw();
  }

  listenToPointer() {
    /** @type {{x: number, y: number, moved: boolean} | null} */
    let drag = null;
    this.canvas.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
      drag = { x: event.clientX, y: event.clientY, moved: false };
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
      if (!drag) return;
      const [right, down] = [event.clientX - drag.x, event.clientY - drag.y];
      if (!drag.moved && Math.hypot(right, down) < 4) return;
      drag = { x: event.clientX, y: event.clientY, moved: true };
      this.centre = [this.centre[0] - right / this.scale, this.centre[1] + down / this.scale];
      this.setFollowing(false);
    });
    this.canvas.addEventListener("pointerup", (/** @type {PointerEvent} */ event) => {
      if (drag && !drag.moved) this.choose(event.offsetX, event.offsetY);
      drag = null;
    });
  }

  /** @param {number} x @param {number} y pixels on the canvas */
  choose(x, y) {
    const east = this.centre[0] + (x - this.canvas.clientWidth / 2) / this.scale;
    const north = this.centre[1] - (y - this.canvas.clientHeight / 2) / this.scale;
    this.place = [east, north, this.live?.position[2] ?? 0];
    this.store.set("place", this.place);
    write(this.where, `E ${figure(east, 1)} m, N ${figure(north, 1)} m`);
    this.goButton.disabled = !this.robot?.controllers.some(({ waypoints }) => waypoints);
    this.draw();
  }

  go() {
    return this.command({ op: "waypoint", robot: this.robot?.name, position: this.place, tolerance: 2 });
  }

  /** Extend the tracks, also while the map is hidden. */
  remember() {
    for (const [name, { position }] of Object.entries(this.state.robots)) {
      const track = this.tracks.get(name) ?? [];
      this.tracks.set(name, track);
      const last = track.at(-1);
      if (last && Math.hypot(position[0] - last[0], position[1] - last[1]) < STRIDE) continue;
      track.push([position[0], position[1]]);
      if (track.length > TRACK) track.shift();
    }
  }

  update() {
    if (this.following && this.live) this.centre = this.live.position.slice(0, 2);
    this.draw();
  }

  draw() {
    const { canvas } = this;
    const { clientWidth: width, clientHeight: height } = canvas;
    if (!this.shown || !width || !this.store.get("state")) return;
    const ratio = devicePixelRatio;
    if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
    if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
    const context = context2d(canvas);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    /** @param {number[]} point */
    const at = ([east, north]) => /** @type {[number, number]} */ ([width / 2 + (east - this.centre[0]) * this.scale, height / 2 - (north - this.centre[1]) * this.scale]);
    this.relief.draw(context, at);
    this.drawGrid(context, at, width, height);
    Object.entries(this.state.robots).forEach(([name, live], index) => {
      const colour = TRACK_COLOURS[index % TRACK_COLOURS.length];
      this.drawTrack(context, at, this.tracks.get(name) ?? [], colour);
      if (live.waypoint) this.drawWaypoint(context, at, live, colour);
      this.drawRobot(context, at(live.position), live.heading_deg, name, colour);
    });
    if (this.place) this.drawPlace(context, at(this.place));
  }

  /** @param {CanvasRenderingContext2D} context @param {(point: number[]) => [number, number]} at @param {number} width @param {number} height */
  drawGrid(context, at, width, height) {
    const step = roundStep(70 / this.scale); // m; lines at least 70 pixels apart
    const geo = this.scene.geo;
    context.strokeStyle = "rgb(255 255 255 / 18%)";
    context.fillStyle = "rgb(255 255 255 / 75%)";
    context.font = "10px system-ui, sans-serif";
    const [east, north] = this.centre;
    const [reachX, reachY] = [width / 2 / this.scale, height / 2 / this.scale];
    for (let x = Math.ceil((east - reachX) / step) * step; x < east + reachX; x += step) {
      const [px] = at([x, 0]);
      context.beginPath();
      context.moveTo(px, 0);
      context.lineTo(px, height);
      context.stroke();
      const longitude = geo ? geo.lon + x / (METRES_PER_DEGREE * Math.cos((geo.lat * Math.PI) / 180)) : null;
      context.fillText(longitude === null ? `E ${figure(x, 0)}` : `${longitude.toFixed(5)}°`, px + 3, height - 4);
    }
    for (let y = Math.ceil((north - reachY) / step) * step; y < north + reachY; y += step) {
      const [, py] = at([0, y]);
      context.beginPath();
      context.moveTo(0, py);
      context.lineTo(width, py);
      context.stroke();
      if (py < 26 || py > height - 14) continue; // other labels are drawn there
      context.fillText(geo ? `${(geo.lat + y / METRES_PER_DEGREE).toFixed(5)}°` : `N ${figure(y, 0)}`, 4, py - 3);
    }
    context.fillText(`grid ${figure(step, step < 1 ? 1 : 0)} m, north up`, 4, 12);
  }

  /** @param {CanvasRenderingContext2D} context @param {(point: number[]) => [number, number]} at @param {number[][]} track @param {string} colour */
  drawTrack(context, at, track, colour) {
    context.strokeStyle = colour;
    context.lineWidth = 1.5;
    context.beginPath();
    for (const point of track) context.lineTo(...at(point));
    context.stroke();
    context.lineWidth = 1;
  }

  /** @param {CanvasRenderingContext2D} context @param {(point: number[]) => [number, number]} at @param {import("./types.js").RobotState} live @param {string} colour */
  drawWaypoint(context, at, { waypoint, position }, colour) {
    if (!waypoint) return;
    const [x, y] = at(waypoint.position);
    context.strokeStyle = colour;
    context.setLineDash([4, 4]);
    context.beginPath();
    context.moveTo(...at(position));
    context.lineTo(x, y);
    context.stroke();
    context.setLineDash([]);
    context.beginPath();
    context.arc(x, y, Math.max(4, waypoint.tolerance * this.scale), 0, 2 * Math.PI);
    context.stroke();
  }

  /** @param {CanvasRenderingContext2D} context @param {[number, number]} place @param {number} heading @param {string} name @param {string} colour */
  drawRobot(context, [x, y], heading, name, colour) {
    context.save();
    context.translate(x, y);
    context.rotate((heading * Math.PI) / 180);
    context.fillStyle = colour;
    context.strokeStyle = "rgb(0 0 0 / 60%)";
    context.beginPath();
    context.moveTo(0, -9);
    context.lineTo(6, 7);
    context.lineTo(0, 4);
    context.lineTo(-6, 7);
    context.closePath();
    context.fill();
    context.stroke();
    context.restore();
    context.font = `${name === this.store.get("robot") ? "bold " : ""}11px system-ui, sans-serif`;
    context.fillStyle = "#fff";
    context.fillText(name, x + 10, y + 4);
  }

  /** @param {CanvasRenderingContext2D} context @param {[number, number]} place */
  drawPlace(context, [x, y]) {
    context.strokeStyle = "#fff";
    context.beginPath();
    context.arc(x, y, 6, 0, 2 * Math.PI);
    context.moveTo(x - 10, y);
    context.lineTo(x + 10, y);
    context.moveTo(x, y - 10);
    context.lineTo(x, y + 10);
    context.stroke();
  }
}
