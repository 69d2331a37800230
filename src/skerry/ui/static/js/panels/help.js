// @ts-check
// The help: how to drive this robot, look around, and what each panel is for.
import { button, element } from "./elements.js";

/** Keys of the page itself. */
const SHORTCUTS = [
  ["?", "this help"],
  ["P", "hide or show all panels"],
  [",", "pause, or go on"],
  [".", "one step of the physics"],
  ["1 … 9", "choose a robot"],
  ["F6", "to the next panel; with Shift, to the one before"],
  ["Esc", "back to the view; closes menus"],
];
const LOOKING = [
  ["left drag", "look around the robot"],
  ["wheel", "nearer, farther"],
  ["right + W A S D Q E", "fly, in the view Free"],
];

/** @param {string[][]} rows */
function table(rows) {
  return element("dl", { class: "help-keys" }, ...rows.map(([key, does]) => element("div", {}, element("dt", {}, element("kbd", {}, key)), element("dd", {}, does))));
}

/**
 * @param {HTMLElement} slot
 * @param {import("./types.js").Store} store
 * @param {(typeof import("./panel.js").Panel)[]} panels
 */
export function mountHelp(slot, store, panels) {
  const body = element("div", { class: "help-body" });
  const close = button("close", "Close (Escape)", { class: "icon-only", testid: "help-close", autofocus: true });
  const dialog = element("dialog", { class: "help", testid: "help-dialog", "aria-label": "Help" }, element("header", { class: "row between" }, element("h2", {}, "How to use this page"), close), body);
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (/** @type {MouseEvent} */ event) => event.target === dialog && dialog.close());
  slot.append(dialog);
  store.on("help", () => {
    if (dialog.open) return dialog.close();
    const robot = store.get("scene")?.robots.find((/** @type {any} */ one) => one.name === store.get("robot"));
    const keys = (robot?.keys ?? []).map((/** @type {any} */ { label, does }) => [label, does]);
    body.replaceChildren(
      element(
        "section",
        {},
        element("h3", {}, robot ? `Drive ${robot.name}` : "Drive"),
        element("p", {}, "Hold a key to drive, let go to stop. The robot must be on Manual; keys stop by themselves when this page loses the focus or the connection."),
        table(keys),
      ),
      element("section", {}, element("h3", {}, "Look"), table(LOOKING), element("h3", {}, "Keys of the page"), table(SHORTCUTS)),
      element("section", {}, element("h3", {}, "Panels"), element("dl", { class: "help-panels" }, ...panels.flatMap(({ title, about }) => [element("dt", {}, title), element("dd", {}, about)]))),
    );
    dialog.showModal();
  });
}
