// @ts-check
// Short notices over the view, such as refused requests. Each disappears after a few seconds.
import { element } from "./elements.js";

const DURATION = 6000; // ms for which a notice is shown
const MAX_NOTICES = 3; // notices that are shown at the same time

/** @param {HTMLElement} slot @param {import("./types.js").Store} store */
export function mountNotices(slot, store) {
  const list = element("div", { class: "notices", role: "status", "aria-live": "polite", testid: "notices" });
  slot.append(list);
  store.on("notice", ({ text, bad }) => {
    const same = [...list.children].find((one) => one.textContent === text);
    same?.remove();
    const notice = element("p", { class: bad ? "bad" : "" }, text);
    list.append(notice);
    while (list.children.length > MAX_NOTICES) list.firstElementChild.remove();
    setTimeout(() => notice.remove(), DURATION);
  });
}
