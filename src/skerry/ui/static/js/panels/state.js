// @ts-check
// Panel with the state of the chosen robot: depth, altitude, speed, heading, battery, leak, actuators.
import { element, figure, label, write } from "./elements.js";
import { Panel } from "./panel.js";

/** @typedef {import("./types.js").RobotState} RobotState */

/** Name, title, unit, decimals and getter of each number. @type {[string, string, string, number, (live: RobotState) => number | null][]} */
const QUANTITIES = [
  ["depth", "Depth", "m", 2, (live) => (live.depth === null ? null : Math.abs(live.depth))], // the title is "Height" above the water
  ["altitude", "Altitude", "m", 2, (live) => live.altitude],
  ["speed", "Speed", "m/s", 2, (live) => live.speed],
  ["heading", "Heading", "°", 0, (live) => live.heading_deg],
  ["roll", "Roll", "°", 1, (live) => live.roll_deg],
  ["pitch", "Pitch", "°", 1, (live) => live.pitch_deg],
  ["east", "East", "m", 1, (live) => live.position[0]],
  ["north", "North", "m", 1, (live) => live.position[1]],
];

/** Format an angle with its hemisphere. @param {number} degrees @param {string} letters for positive and negative angles */
function angle(degrees, letters) {
  return `${Math.abs(degrees).toFixed(5)}° ${letters[degrees < 0 ? 1 : 0]}`;
}

export class RobotStatePanel extends Panel {
  static id = "state";
  static title = "State";
  static about = "Position and motion of the chosen robot, its battery, its leak sensor and its actuators.";

  build() {
    if (!this.robot) return this.empty("Choose a robot above.");
    /** @type {Map<string, HTMLElement>} */
    this.cells = new Map();
    const grid = element("dl", { class: "figures" });
    for (const [id, title, unit] of QUANTITIES) grid.append(this.row(id, title, unit));
    this.depthTitle = grid.querySelector("dt");
    /** Functions that show a meter or an alarm, by the name of the number. @type {Map<string, (value: any) => void>} */
    this.indicators = new Map();
    const indicators = this.robot.sensors.flatMap(({ name, display }) => display.map((each) => this.indicator(name, each)));
    this.place = element("p", { class: "note", testid: "state-place", title: "Latitude and longitude" });
    const actuators = element("dl", { class: "figures wide" });
    for (const { name, unit } of this.robot.actuators) actuators.append(this.row(`actuator.${name}`, label(name), unit));
    this.body.replaceChildren(grid, ...indicators, this.place, actuators);
  }

  /** @param {string} id */
  cell(id) {
    const cell = element("output", { testid: `state-${id}` }, "–");
    this.cells?.set(id, cell);
    return cell;
  }

  /** @param {string} id @param {string} title @param {string} unit */
  row(id, title, unit) {
    return element("div", {}, element("dt", {}, title), element("dd", {}, this.cell(id), element("small", {}, ` ${unit}`)));
  }

  /**
   * Return the meter or the alarm of a sensor, or an empty text for other displays.
   * @param {string} sensor
   * @param {import("./types.js").DisplayScene} display
   */
  indicator(sensor, { kind, value: field, units, low, maximum, on, off }) {
    if (kind === "meter") {
      const title = label(sensor).replace(/^./, (first) => first.toUpperCase());
      const meter = element("meter", { min: 0, max: maximum, low, value: 0, "aria-label": title });
      const row = element("p", { class: "row between" }, title, meter, this.cell(sensor));
      this.indicators?.set(`${sensor}.${field}`, (value) => {
        row.hidden = value === null;
        meter.value = value ?? 0;
        this.put(sensor, `${figure(value, 0)} ${units[field]}`);
      });
      return row;
    }
    if (kind === "alarm") {
      const badge = element("p", { class: "badge", testid: `state-${sensor}` });
      this.indicators?.set(`${sensor}.${field}`, (value) => {
        badge.hidden = value === null;
        badge.classList.toggle("bad", value === true);
        write(badge, value ? on : off);
      });
      return badge;
    }
    return "";
  }

  /** @param {string} id @param {string} text */
  put(id, text) {
    const cell = this.cells?.get(id);
    if (cell) write(cell, text);
  }

  update() {
    const live = this.live;
    if (!live || !this.robot) return;
    for (const [id, , , digits, value] of QUANTITIES) this.put(id, figure(value(live), digits));
    write(this.depthTitle, live.depth > 0 ? "Depth" : "Height");
    for (const [name, show] of this.indicators ?? []) show(live.indicators[name] ?? null);
    this.place.hidden = live.lat === null;
    if (live.lat !== null && live.lon !== null) write(this.place, `${angle(live.lat, "NS")}  ${angle(live.lon, "EW")}`);
    for (const [name, { value, unit }] of Object.entries(live.actuators)) {
      this.put(`actuator.${name}`, figure(value, unit === "rpm" || unit === "%" ? 0 : 2));
    }
  }
}
