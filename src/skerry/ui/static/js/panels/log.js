// @ts-check
// Lists of events: all of them, and those of the acoustic modems with a box to send from.
import { button, element, figure, words } from "./elements.js";
import { Panel } from "./panel.js";

const KEPT = 300; // lines

/** A panel with a list of events, the newest below. */
class Log extends Panel {
  /** Shown while nothing has happened. */
  static nothing = "";

  prepare() {
    const { id, title, nothing } = /** @type {typeof Log} */ (this.constructor);
    this.list = element("ol", { class: "log", testid: `${id}-log`, tabindex: 0, "aria-label": title, role: "log" });
    this.placeholder = element("li", { class: "empty" }, nothing);
    this.list.append(this.placeholder);
    this.store.on("event", (event) => this.accepts(event) && this.append(event));
  }

  /** @param {any} event */
  accepts(event) {
    return true;
  }

  /** The words of a line. @param {any} event @returns {string} */
  words({ text }) {
    return text;
  }

  /** @param {any} event */
  append(event) {
    const { kind, time, robot } = event;
    this.placeholder.remove();
    const atEnd = this.list.scrollTop + this.list.clientHeight >= this.list.scrollHeight - 8;
    this.list.append(
      element(
        "li",
        { "data-kind": kind },
        element("time", {}, figure(time, 1)),
        element("span", { class: "kind" }, kind),
        element("b", {}, robot ?? ""),
        element("span", {}, this.words(event)),
      ),
    );
    while (this.list.children.length > KEPT) this.list.firstElementChild?.remove();
    if (atEnd) this.list.scrollTop = this.list.scrollHeight;
  }
}

export class Events extends Log {
  static id = "events";
  static title = "Events";
  static about = "What happened: control that changed hands, collisions, ropes, leaks, the scenario's own events.";
  static nothing = "Nothing has happened yet. Switch a robot to Manual, or pause, and it will be told here.";

  build() {
    if (!this.list.isConnected) this.body.replaceChildren(this.list);
  }
}

export class Acoustics extends Log {
  static id = "acoustics";
  static title = "Acoustics";
  static about = "Messages of acoustic modems: who sent, who heard, when; and a box to send one.";
  static nothing = "No message yet. Write one below and send it: whoever is in range hears it, at the speed of sound.";

  /** @param {any} event */
  accepts({ kind }) {
    return kind === "acoustic";
  }

  /** @param {any} event */
  words({ text, bytes, receivers = [] }) {
    const listed = receivers.map((/** @type {any} */ { receiver, length_m, status }) => `${receiver} ${figure(length_m, 0)} m, ${words(status)}`);
    return `“${text}” ${bytes} bytes → ${listed.join("; ") || "no receiver"}`;
  }

  build() {
    const transceivers = this.robot?.transceivers ?? [];
    if (!transceivers.length) {
      const none = element("p", { class: "note" }, "This robot has no modem to send from; messages of others are shown above.");
      this.body.replaceChildren(this.list, none);
      return;
    }
    const from = element("select", { "aria-label": "Modem", testid: "acoustics-from" });
    from.append(...transceivers.map((name) => element("option", { value: name }, words(name))));
    const text = element("input", { type: "text", maxlength: 200, placeholder: "Message", "aria-label": "Message", testid: "acoustics-text", required: true });
    const send = button("send", "Send from this robot's modem", { testid: "acoustics-send" }, "Send");
    send.type = "submit";
    const form = element("form", { class: "row send" }, from, text, send);
    form.addEventListener("submit", async (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      const op = { op: "acoustic", robot: this.robot?.name, transceiver: from.value, text: text.value };
      if ((await this.command(op)).ok) text.value = "";
    });
    this.body.replaceChildren(this.list, form);
  }
}
