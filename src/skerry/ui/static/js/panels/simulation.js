// @ts-check
// Left half of the bar: connection, time, pause, step, speed, reset, scenarios, recording, snapshots.
import { button, clock, element, figure, icon, label, write } from "./elements.js";
import { menu } from "./menu.js";
import { Panel } from "./panel.js";

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 50];
const LINKS = { connecting: "Connecting …", live: "Live", busy: "Busy …", lost: "Lost" };
const STATE_TIMEOUT = 3000; // ms without a state after which the simulator is shown as busy; it sends five states per second
const BUSY_TEXT = "The simulator is connected, but its world does not advance: it is loading, or compiles kernels for a sensor";

export class Simulation extends Panel {
  static id = "simulation";
  static title = "Simulation";
  static about = "Pause, step, speed, reset, scenarios, recording and snapshots.";

  prepare() {
    this.link = element("span", { class: "link", testid: "link", role: "status" }, LINKS.connecting);
    this.time = element("output", { class: "time", testid: "time", title: "Simulated time" }, "00:00.0");
    this.factor = element("output", { class: "note factor", testid: "rtf", title: "Simulated seconds per second, measured" });
    this.pause = button("pause", "Pause or resume (key ,)", { class: "icon-only", testid: "pause", on: { click: () => this.togglePause() } });
    this.step = button("step", "One step of the physics (key .)", { class: "icon-only", testid: "step", on: { click: () => this.stepOnce() } });
    this.speed = this.speedChoice();
    this.record = button("record", "Start or stop a recording", { class: "record", testid: "record", on: { click: () => this.toggleRecording() } }, "Rec");
    this.body.append(
      element("span", { class: "brand" }, icon("anchor"), element("b", {}, "Skerry")),
      this.link,
      element("span", { class: "group" }, this.pause, this.step, this.speed),
      element("span", { class: "group clock" }, this.time, this.factor),
      this.scenarioMenu(),
      this.snapshotMenu(),
      this.record,
    );
    this.shown = true;
    this.lastState = performance.now();
    this.store.on("link", () => this.showLink());
    this.store.on("state", () => (this.lastState = performance.now()));
    setInterval(() => this.showLink(), 500);
  }

  showLink() {
    const isSilent = performance.now() - this.lastState > STATE_TIMEOUT && !document.hidden;
    const link = this.store.get("link") === "live" && isSilent ? "busy" : this.store.get("link");
    write(this.link, LINKS[/** @type {keyof typeof LINKS} */ (link)]);
    this.link.dataset.link = link;
    this.link.title = link === "busy" ? BUSY_TEXT : "Connection to the simulator";
  }

  togglePause() {
    return this.command({ op: this.state?.paused ? "resume" : "pause" });
  }

  stepOnce() {
    return this.command({ op: "step", n: 1 });
  }

  toggleRecording() {
    return this.command({ op: "rec", on: !this.state?.recording });
  }

  speedChoice() {
    const options = SPEEDS.map((speed) => element("option", { value: speed }, `× ${speed}`));
    const speed = element("select", { title: "Simulated seconds per second", "aria-label": "Speed", testid: "speed" }, ...options, element("option", { value: "max" }, "max"));
    speed.addEventListener("change", () => this.command({ op: "rate", x: speed.value === "max" ? null : Number(speed.value) }));
    return speed;
  }

  scenarioMenu() {
    this.scenarios = element("select", { "aria-label": "Scenario", testid: "scenario" });
    this.summary = element("p", { class: "note summary" });
    const load = button("play", "Load this scenario in place of the running one", { testid: "scenario-load" }, "Load");
    load.addEventListener("click", () => this.command({ op: "scenario", load: this.scenarios.value }));
    this.scenarios.addEventListener("change", () => this.describe());
    this.seed = element("input", { type: "number", min: 0, step: 1, testid: "seed", "aria-label": "Seed", placeholder: "same" });
    const reset = button("reset", "Reset to the start. Another seed gives other noise and waves", { testid: "reset" }, "Reset");
    reset.addEventListener("click", () => this.command({ op: "reset", seed: this.seed.value === "" ? null : Number(this.seed.value) }));
    const whole = menu(
      "scenario",
      "reset",
      "Scenario",
      "Choose a scenario, reset it, set its seed",
      element("h3", {}, "Scenario"),
      element("div", { class: "row" }, this.scenarios, load),
      this.summary,
      element("h3", {}, "Restart"),
      element("div", { class: "row" }, element("label", { class: "row" }, "Seed", this.seed), reset),
    );
    whole.addEventListener("toggle", () => whole.open && this.listScenarios());
    return whole;
  }

  async listScenarios() {
    const answer = await fetch("api/scenarios");
    /** @type {{name: string, summary: string}[]} */
    this.known = (await answer.json()).scenarios;
    const running = this.state?.scenario;
    this.scenarios.replaceChildren(...this.known.map(({ name }) => element("option", { value: name, selected: name === running }, label(name))));
    this.describe();
  }

  describe() {
    write(this.summary, this.known?.find(({ name }) => name === this.scenarios.value)?.summary ?? "");
  }

  snapshotMenu() {
    this.snapshotName = element("input", { type: "text", maxlength: 40, placeholder: "Name", "aria-label": "Name of the snapshot", testid: "snapshot-name" });
    const take = button("save", "Store a snapshot of the world", { testid: "snapshot-take" }, "Keep");
    take.addEventListener("click", async () => {
      const name = this.snapshotName.value.trim() || `at ${figure(this.state.time, 1)} s`;
      if ((await this.command({ op: "snapshot", name })).ok) this.snapshotName.value = "";
    });
    this.snapshots = element("ul", { class: "snapshots", testid: "snapshots" });
    return menu("snapshot", "save", "Snapshots", "Store snapshots of the world, and restore them", element("div", { class: "row" }, this.snapshotName, take), this.snapshots);
  }

  update() {
    const { time, rtf, paused, rate, recording, snapshots, scenario, clients, mode } = this.state;
    write(this.time, clock(time));
    write(this.factor, paused ? "paused" : `× ${figure(rtf, rtf < 10 ? 2 : 0)}`);
    this.factor.title = `Simulated seconds per second, measured; ${clients} ${clients === 1 ? "page is" : "pages are"} connected`;
    if (this.pause.dataset.paused !== String(paused)) {
      this.pause.dataset.paused = String(paused);
      this.pause.replaceChildren(icon(paused ? "play" : "pause"));
    }
    this.pause.setAttribute("aria-pressed", String(paused));
    this.updateSpeed(rate);
    this.record.setAttribute("aria-pressed", String(recording !== null));
    this.record.title = recording ? `Recording to ${recording.path}; click to stop` : "Record to a file";
    this.record.disabled = mode === "replay";
    document.title = `${label(scenario)} – Skerry`;
    this.updateSnapshots(snapshots);
  }

  /** @param {number | null} rate */
  updateSpeed(rate) {
    const value = rate === null ? "max" : String(rate);
    if (document.activeElement === this.speed || this.speed.value === value) return;
    if (![...this.speed.options].some((option) => option.value === value)) {
      this.speed.prepend(element("option", { value }, `× ${figure(rate, 2)}`)); // speed set by another page or on the command line
    }
    this.speed.value = value;
  }

  /** @param {string[]} names */
  updateSnapshots(names) {
    const text = JSON.stringify(names);
    if (this.snapshots.dataset.shown === text) return;
    this.snapshots.dataset.shown = text;
    const rows = names.map((name) => {
      const restore = button("reset", `Restore the snapshot ${name}`, { testid: `restore-${name}`, class: "small" }, "Restore");
      restore.addEventListener("click", () => this.command({ op: "restore", name }));
      return element("li", { class: "row between" }, name, restore);
    });
    this.snapshots.replaceChildren(...(rows.length ? rows : [element("li", { class: "empty" }, "No snapshots yet. Store one, drive on, and restore it later.")]));
  }
}
