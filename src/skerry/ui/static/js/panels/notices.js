// @ts-check
// Short notices over the view: what the simulator refused and why. They go by themselves.
import { element } from "./elements.js";

const LASTING = 6000; // ms
const MOST = 3;

/** @param {HTMLElement} slot @param {import("./types.js").Store} store */
export function mountNotices(slot, store) {
  const list = element("div", { class: "notices", role: "status", "aria-live": "polite", testid: "notices" });
  slot.append(list);
  store.on("notice", ({ text, bad }) => {
    const same = [...list.children].find((one) => one.textContent === text);
    same?.remove();
    const notice = element("p", { class: bad ? "bad" : "" }, text);
    list.append(notice);
    while (list.children.length > MOST) list.firstElementChild.remove();
    setTimeout(() => notice.remove(), LASTING);
  });
}
