// @ts-check
// Button that opens a menu. Escape or a click elsewhere closes it.
import { element, icon } from "./elements.js";

/**
 * @param {string} id for tests
 * @param {Parameters<typeof icon>[0]} picture
 * @param {string} title
 * @param {string} about tooltip
 * @param {...(Node | string)} content
 */
export function menu(id, picture, title, about, ...content) {
  const label = element("span", { class: "menu-title" }, title);
  const summary = element("summary", { title: about, "aria-label": title, testid: `menu-${id}` }, icon(picture), label, icon("down"));
  const box = element("div", { class: "menu-box", role: "group", "aria-label": title }, ...content);
  const whole = element("details", { class: "menu", name: "menu" }, summary, box);
  whole.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape" || !whole.open) return;
    whole.open = false;
    summary.focus();
    event.stopPropagation();
  });
  document.addEventListener("pointerdown", (event) => {
    if (whole.open && event.target instanceof Node && !whole.contains(event.target)) whole.open = false;
  });
  return whole;
}
