// @ts-check
// Time line of a replay: drag it to go to a time of the recording.
import { clock, element, write } from "./elements.js";
import { Panel } from "./panel.js";

export class Timeline extends Panel {
  static id = "timeline";
  static title = "Timeline";
  static about = "Time line of a replay. Drag it to go to a time of the recording.";

  prepare() {
    this.shown = true;
    this.at = element("output", { testid: "timeline-at" }, "–");
    this.end = element("span", { class: "note" }, "–");
    this.slider = element("input", { type: "range", min: 0, max: 1, step: "any", testid: "timeline", "aria-label": "Time of the replay, s" });
    this.slider.addEventListener("input", () => this.seek());
    this.whole = element("div", { class: "timeline", hidden: true }, element("b", {}, "Replay"), this.at, this.slider, this.end);
    this.body.append(this.whole);
    this.seeking = false;
  }

  /** Seek to the slider's time. While a seek is running, only the latest time is kept. */
  async seek() {
    if (this.seeking) return;
    this.seeking = true;
    let target = NaN;
    while (target !== Number(this.slider.value)) {
      target = Number(this.slider.value);
      await this.command({ op: "seek", t: target });
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
