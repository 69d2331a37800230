// @ts-check
// Help dialog: how to drive the chosen robot, how to move the view, and the purpose of each panel.
import { button, element } from "./elements.js";

/** Keyboard shortcuts of the page. */
const SHORTCUTS = [
  ["?", "this help"],
  ["P", "hide or show all panels"],
  [",", "pause or resume"],
  [".", "one step of the physics"],
  ["1 … 9", "choose a robot"],
  ["F6", "go to the next panel; with Shift, to the previous panel"],
  ["Esc", "return to the view; close menus"],
];
const LOOKING = [
  ["left drag", "turn the view around the robot"],
  ["wheel", "zoom"],
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
        element("p", {}, "Hold a key to drive, and release it to stop. The robot must be on Manual. All keys are released when this page loses the focus or the connection."),
        table(keys),
      ),
      element("section", {}, element("h3", {}, "View"), table(LOOKING), element("h3", {}, "Keys of the page"), table(SHORTCUTS)),
      element("section", {}, element("h3", {}, "Panels"), element("dl", { class: "help-panels" }, ...panels.flatMap(({ title, about }) => [element("dt", {}, title), element("dd", {}, about)]))),
    );
    dialog.showModal();
  });
}
