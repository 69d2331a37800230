// @ts-check
// The time line of a replay: drag it, and the world goes to that instant.
import { clock, element, write } from "./elements.js";
import { Panel } from "./panel.js";

export class Timeline extends Panel {
  static id = "timeline";
  static title = "Timeline";
  static about = "Of a replay: drag to go to an instant.";

  prepare() {
    this.shown = true;
    this.at = element("output", { testid: "timeline-at" }, "–");
    this.end = element("span", { class: "note" }, "–");
    this.slider = element("input", { type: "range", min: 0, max: 1, step: "any", testid: "timeline", "aria-label": "Instant of the replay, s" });
    this.slider.addEventListener("input", () => this.seek());
    this.whole = element("div", { class: "timeline", hidden: true }, element("b", {}, "Replay"), this.at, this.slider, this.end);
    this.body.append(this.whole);
    this.seeking = false;
  }

  /** One instant at a time: while one is being found, only the last wish is kept. */
  async seek() {
    if (this.seeking) return;
    this.seeking = true;
    let wish = NaN;
    while (wish !== Number(this.slider.value)) {
      wish = Number(this.slider.value);
      await this.command({ op: "seek", t: wish });
    }
    this.seeking = false;
  }

  update() {
    const { mode, replay } = this.state;
    this.whole.hidden = mode !== "replay";
    if (!replay) return;
    this.slider.min = String(replay.start);
    this.slider.max = String(replay.end);
    if (!this.seeking) this.slider.value = String(replay.t);
    write(this.at, clock(replay.t));
    write(this.end, clock(replay.end));
  }
}
