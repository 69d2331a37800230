// @ts-check
// Containers of panels: foldable sections in a column, and tabs in the drawer. Both notify a panel when it is shown or hidden.
import { element, icon } from "./elements.js";

/** @typedef {import("./panel.js").Panel} Panel */
/** @typedef {typeof import("./panel.js").Panel} PanelClass */

const FOLDS = "skerry.folds";

/** @returns {Record<string, boolean>} */
function folds() {
  try {
    return JSON.parse(localStorage.getItem(FOLDS) ?? "{}");
  } catch {
    return {};
  }
}

/** @param {string} id @param {boolean} open */
function remember(id, open) {
  localStorage.setItem(FOLDS, JSON.stringify({ ...folds(), [id]: open }));
}

/**
 * Mount panels one above the other, each foldable. The browser stores which panels are folded.
 * @param {HTMLElement} slot
 * @param {{panel: PanelClass, open: boolean}[]} panels
 * @param {import("./types.js").Context} context
 */
export function mountColumn(slot, panels, context) {
  const before = folds();
  for (const { panel: Kind, open } of panels) {
    const body = element("div", { class: "panel-body" });
    const title = element("h2", {}, Kind.title);
    const summary = element("summary", { title: Kind.about, testid: `fold-${Kind.id}` }, icon("down"), title);
    const frame = element("details", { class: "panel", id: `panel-${Kind.id}`, testid: `panel-${Kind.id}` }, summary, body);
    frame.open = before[Kind.id] ?? open;
    slot.append(frame);
    const panel = new Kind();
    panel.mount(body, context);
    const updateShown = () => panel.show(frame.open && !context.store.get("hidden"));
    frame.addEventListener("toggle", () => {
      remember(Kind.id, frame.open);
      updateShown();
    });
    context.store.on("hidden", updateShown);
    updateShown();
  }
}

/**
 * Mount panels as tabs. The arrow keys move between the tabs.
 * @param {HTMLElement} slot
 * @param {PanelClass[]} kinds
 * @param {import("./types.js").Context} context
 */
export function mountTabs(slot, kinds, context) {
  const list = element("div", { role: "tablist", class: "tabs", "aria-label": "Drawer" });
  const pages = element("div", { class: "tab-pages" });
  /** @type {{tab: HTMLButtonElement, page: HTMLElement, panel: Panel}[]} */
  const entries = [];
  let chosen = 0;
  let open = folds().drawer ?? true;

  const show = () => {
    entries.forEach(({ tab, page, panel }, index) => {
      const here = index === chosen;
      tab.setAttribute("aria-selected", String(here && open));
      tab.tabIndex = here ? 0 : -1;
      page.hidden = !here || !open;
      panel.show(here && open && !context.store.get("hidden"));
    });
    slot.classList.toggle("closed", !open);
    remember("drawer", open);
  };
  /** @param {number} index */
  const choose = (index) => {
    open = !(open && index === chosen);
    chosen = index;
    show();
  };

  kinds.forEach((Kind, index) => {
    const id = `panel-${Kind.id}`;
    const tab = element(
      "button",
      { type: "button", role: "tab", title: Kind.about, testid: `tab-${Kind.id}`, "aria-controls": id, id: `tab-${Kind.id}` },
      Kind.title,
    );
    tab.addEventListener("click", () => choose(index));
    tab.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by) return;
      chosen = (index + by + kinds.length) % kinds.length;
      open = true;
      show();
      entries[chosen].tab.focus();
      event.preventDefault();
    });
    const page = element("div", { role: "tabpanel", id, testid: id, class: "tab-page", "aria-labelledby": `tab-${Kind.id}` });
    const panel = new Kind();
    entries.push({ tab, page, panel });
    list.append(tab);
    pages.append(page);
    panel.mount(page, context);
  });
  slot.append(list, pages);
  context.store.on("hidden", show);
  show();
}
