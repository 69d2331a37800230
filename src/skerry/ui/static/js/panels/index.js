// @ts-check
// Mount all panels in the slots of the page, and register the shortcuts.
import { Driving, listenToShortcuts, returnFocusAfterMouse } from "../input.js";
import { Actions } from "./actions.js";
import { Actuators } from "./actuators.js";
import { Camera } from "./camera.js";
import { element } from "./elements.js";
import { Fan } from "./fan.js";
import { mountColumn, mountTabs } from "./frames.js";
import { mountHelp } from "./help.js";
import { HeadUp, Welcome } from "./hud.js";
import { Keys } from "./keys.js";
import { Lidar } from "./lidar.js";
import { Acoustics, Events } from "./log.js";
import { WorldMap } from "./map.js";
import { mountNotices } from "./notices.js";
import { Plots } from "./plots.js";
import { Previews } from "./preview.js";
import { Robots } from "./robots.js";
import { Sidescan } from "./sidescan.js";
import { Simulation } from "./simulation.js";
import { RobotStatePanel } from "./state.js";
import { startTheme } from "./theme.js";
import { Timeline } from "./timeline.js";
import { Viewing } from "./viewing.js";
import { Winch } from "./winch.js";

const LEFT = [
  { panel: Robots, open: true },
  { panel: Keys, open: true },
  { panel: RobotStatePanel, open: true },
  { panel: Actuators, open: false },
  { panel: Winch, open: false },
  { panel: Actions, open: false },
];
const RIGHT = [
  { panel: Camera, open: true },
  { panel: Sidescan, open: true },
  { panel: Fan, open: false },
  { panel: Lidar, open: false },
];
const DRAWER = [WorldMap, Plots, Acoustics, Events];

/**
 * @param {Record<string, HTMLElement>} slots by the name in `data-slot`: bar, left, view, hud, right, drawer, dialogs
 * @param {{store: import("../store.js").Store, net: import("../net.js").Net}} parts
 */
export function mountPanels(slots, { store, net }) {
  startTheme();
  store.set("held", []);
  store.set("hidden", false);
  store.on("scene", ({ robots }) => {
    const names = robots.map((/** @type {any} */ robot) => robot.name);
    if (!names.includes(store.get("robot"))) store.set("robot", names[0] ?? null);
  });
  store.on("hidden", (hidden) => document.body.classList.toggle("panels-hidden", hidden));

  const driving = new Driving({ store, net });
  const context = { store, net, driving };
  const simulation = new Simulation();
  mountBare(slots.bar, simulation, context, "bar-part");
  mountBare(slots.bar, new Viewing(), context, "bar-part");
  mountColumn(slots.left, LEFT, context);
  mountColumn(slots.right, RIGHT, context);
  mountBare(slots.hud, new Previews(), context, "hud-part");
  mountBare(slots.hud, new HeadUp(), context, "hud-part");
  mountBare(slots.hud, new Welcome(), context, "hud-part");
  mountBare(slots.hud, new Timeline(), context, "hud-part");
  mountTabs(slots.drawer, DRAWER, context);
  mountNotices(slots.hud, store);
  mountHelp(slots.dialogs, store, [...LEFT.map(({ panel }) => panel), ...RIGHT.map(({ panel }) => panel), ...DRAWER, Simulation, Viewing]);

  returnFocusAfterMouse(document);
  listenToShortcuts(driving, {
    "?": () => store.notify("help", true),
    p: () => store.set("hidden", !store.get("hidden")),
    ",": () => simulation.togglePause(),
    ".": () => simulation.stepOnce(),
    F6: (event) => goToPanel(event.shiftKey ? -1 : 1),
    Escape: () => document.getElementById("scene")?.focus(),
    ...Object.fromEntries(Array.from({ length: 9 }, (_, index) => [String(index + 1), () => chooseRobot(store, index)])),
  });
}

/**
 * @param {HTMLElement} slot
 * @param {import("./panel.js").Panel} panel
 * @param {import("./types.js").Context} context
 * @param {string} kind
 */
function mountBare(slot, panel, context, kind) {
  const part = element("div", { class: kind });
  slot.append(part);
  panel.mount(part, context);
}

/** @param {import("../store.js").Store} store @param {number} index */
function chooseRobot(store, index) {
  const robot = store.get("scene")?.robots[index];
  if (robot) store.set("robot", robot.name);
}

/** Move the focus to another panel. @param {number} by 1 for the next panel, -1 for the previous one */
function goToPanel(by) {
  /** @type {NodeListOf<HTMLElement>} */
  const found = document.querySelectorAll("[data-testid=pause], [data-testid=view], .panel > summary, #drawer [role=tab][tabindex='0']");
  const stops = [...found];
  const here = stops.findIndex((stop) => stop === document.activeElement || stop.parentElement?.contains(document.activeElement));
  stops[(here + by + stops.length) % stops.length]?.focus();
}
