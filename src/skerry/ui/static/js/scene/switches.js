// @ts-check
// What of the 3-D view can be switched: overlays, cameras and tools, as data from which the bar builds its controls.

/**
 * Each overlay is shown while the store's `show:<name>` is true.
 * @type {readonly {name: string, title: string, does: string, shown: boolean}[]}
 */
export const OVERLAYS = Object.freeze([
  { name: "names", title: "Names", does: "The name of every robot, with a line to it", shown: true },
  { name: "water", title: "Water", does: "The surface of the sea", shown: true },
  { name: "ropes", title: "Ropes", does: "Ropes: red where taut, green where slack", shown: true },
  { name: "winches", title: "Winches", does: "Winches and hooks", shown: true },
  { name: "rays", title: "Rays", does: "Rays of sonars, and what they hit, coloured by height", shown: true },
  { name: "clouds", title: "Clouds", does: "Points of lidars and multibeam sonars", shown: true },
  { name: "field", title: "Field", does: "Particles that drift in force fields", shown: false },
  { name: "acoustics", title: "Acoustics", does: "A line for each acoustic signal on its way", shown: true },
  { name: "wash", title: "Wash", does: "The wash behind turning propellers", shown: true },
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
    does: "Orbit round the chosen robot: drag with the left button, wheel for the distance",
  },
  { mode: "chase", title: "Chase", does: "From behind the chosen robot, turning with it" },
  { mode: "top", title: "Top", does: "From above, north up" },
  { mode: "free", title: "Free", does: "Fly: hold the right button and press W A S D Q E; wheel for the speed" },
  { mode: "sensor", title: "Sensor", does: "Through a camera of the robot" },
]);

/**
 * The store's `tool` is one of these names, or null.
 * @type {readonly {name: string, title: string, does: string}[]}
 */
export const TOOLS = Object.freeze([
  { name: "measure", title: "Measure", does: "Click two points to measure the distance between them" },
  { name: "teleport", title: "Move", does: "Drag a robot or a thing to another place; with Shift, up and down" },
  { name: "waypoint", title: "Send here", does: "Click where the chosen robot should go" },
]);

/** Store keys of the 3-D view with their first values; `show:<name>` of every overlay too. */
export const FIRST_VALUES = Object.freeze({
  clarity: 0.65, // 0: the water as it is, 1: as clear as air
  camera: Object.freeze({ mode: "follow" }),
  tool: null,
  robot: null, // name of the chosen robot
  measure: null, // {from, to, distance} of the tool
  ...Object.fromEntries(OVERLAYS.map(({ name, shown }) => [`show:${name}`, shown])),
});
