// @ts-check
// Overlays, cameras and tools of the 3-D view, as data for the controls of the bar.

/**
 * Each overlay is shown while the store's `show:<name>` is true.
 * @type {readonly {name: string, title: string, does: string, shown: boolean}[]}
 */
export const OVERLAYS = Object.freeze([
  { name: "names", title: "Names", does: "The name of every robot, with a line to it", shown: true },
  { name: "water", title: "Water", does: "The surface of the sea", shown: true },
  { name: "ropes", title: "Ropes", does: "Ropes: red where taut, green where slack", shown: true },
  { name: "winches", title: "Winches", does: "Winches and hooks", shown: true },
  { name: "rays", title: "Rays", does: "Rays of sonars and lidars, and their hits, coloured by height", shown: true },
  { name: "clouds", title: "Clouds", does: "Points of lidars and multibeam sonars", shown: true },
  { name: "field", title: "Field", does: "Particles that drift in force fields", shown: false },
  { name: "acoustics", title: "Acoustics", does: "The path of each acoustic signal", shown: true },
  { name: "wash", title: "Wash", does: "Bubbles behind turning propellers", shown: true },
  { name: "waypoints", title: "Waypoints", does: "The ring of the waypoint, and a line to it", shown: true },
  { name: "forces", title: "Forces", does: "The forces on each robot, as arrows", shown: false },
  { name: "gps", title: "GPS", does: "A line from each GPS to its reference point", shown: false },
  { name: "tf", title: "Frames", does: "The tree of frames, as arrows and axes", shown: false },
  { name: "contacts", title: "Contacts", does: "A mark where bodies touch", shown: true },
]);

/**
 * The store's `camera` is `{mode, robot?, sensor?}`.
 * @type {readonly {mode: string, title: string, does: string}[]}
 */
export const CAMERAS = Object.freeze([
  {
    mode: "follow",
    title: "Follow",
    does: "Follow the chosen robot: drag with the left button to turn, use the wheel to zoom",
  },
  { mode: "chase", title: "Chase", does: "View from behind the chosen robot, which turns with it" },
  { mode: "top", title: "Top", does: "View from above, north up" },
  { mode: "free", title: "Free", does: "Fly: hold the right button and press W A S D Q E; the wheel sets the speed" },
  { mode: "sensor", title: "Sensor", does: "View through a camera of the robot" },
]);

/**
 * The store's `tool` is one of these names, or null.
 * @type {readonly {name: string, title: string, does: string}[]}
 */
export const TOOLS = Object.freeze([
  { name: "measure", title: "Measure", does: "Click two points to measure the distance between them" },
  { name: "teleport", title: "Move", does: "Drag a robot or an object to another position; with Shift, up and down" },
  { name: "waypoint", title: "Send here", does: "Click a position to send the chosen robot there" },
]);

/** Initial values of the store's keys for the 3-D view, with `show:<name>` of every overlay. */
export const FIRST_VALUES = Object.freeze({
  clarity: 0.65, // 0: clarity of the real water, 1: as clear as air
  camera: Object.freeze({ mode: "follow" }),
  tool: null,
  robot: null, // name of the chosen robot
  measure: null, // {from, to, distance} of the measuring tool
  ...Object.fromEntries(OVERLAYS.map(({ name, shown }) => [`show:${name}`, shown])),
});
