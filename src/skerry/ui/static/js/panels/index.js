// @ts-check
// Puts the panels into the slots of the page.

/**
 * @param {Record<string, HTMLElement>} slots by the name in `data-slot`: bar, left, view, hud, right, drawer, dialogs
 * @param {{store: import("../store.js").Store, net: import("../net.js").Net, scene: import("../scene/view.js").View | null}} parts
 */
export function mountPanels(slots, parts) {}
