// @ts-check
// Panels with lists of events: all events, and the messages of acoustic modems with a field to send one.
import { button, element, figure, label } from "./elements.js";
import { Panel } from "./panel.js";

const MAX_LINES = 300; // lines

/** Panel with a list of events. The newest is at the bottom. */
class Log extends Panel {
  /** Text that is shown while the list is empty. */
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

  /** Return the text of an event. @param {any} event @returns {string} */
  lineText({ text }) {
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
        element("span", {}, this.lineText(event)),
      ),
    );
    while (this.list.children.length > MAX_LINES) this.list.firstElementChild?.remove();
    if (atEnd) this.list.scrollTop = this.list.scrollHeight;
  }
}

export class Events extends Log {
  static id = "events";
  static title = "Events";
  static about = "Events: changes of control, collisions, ropes, alarms, and the events of the scenario.";
  static nothing = "No events yet. Switch a robot to Manual to create one.";

  build() {
    if (!this.list.isConnected) this.body.replaceChildren(this.list);
  }
}

export class Acoustics extends Log {
  static id = "acoustics";
  static title = "Acoustics";
  static about = "Messages of acoustic modems with sender, receivers and time, and a field to send a message.";
  static nothing = "No messages yet. Write a message below and send it. All modems in range receive it, at the speed of sound.";

  /** @param {any} event */
  accepts({ kind }) {
    return kind === "acoustic";
  }

  /** @param {any} event */
  lineText({ text, bytes, receivers = [] }) {
    const listed = receivers.map((/** @type {any} */ { receiver, length_m, status }) => `${receiver} ${figure(length_m, 0)} m, ${label(status)}`);
    return `“${text}” ${bytes} bytes → ${listed.join("; ") || "no receiver"}`;
  }

  build() {
    const transceivers = this.robot?.transceivers ?? [];
    if (!transceivers.length) {
      const none = element("p", { class: "note" }, "This robot has no modem. Messages of other robots are shown above.");
      this.body.replaceChildren(this.list, none);
      return;
    }
    const from = element("select", { "aria-label": "Modem", testid: "acoustics-from" });
    from.append(...transceivers.map((name) => element("option", { value: name }, label(name))));
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
