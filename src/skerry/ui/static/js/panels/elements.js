// @ts-check
// Building blocks of the panels: elements, icons, formatted numbers.

/**
 * Create an element. `on` holds listeners, `testid` is its name in tests, booleans toggle attributes, the rest are attributes.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Node | string | null)} children
 * @returns {any}
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
    else if (name === "testid") made.dataset.testid = value;
    else if (typeof value === "boolean") made.toggleAttribute(name, value);
    else if (value !== null && value !== undefined) made.setAttribute(name, String(value));
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

/**
 * Return a 2-D context that the CPU draws. The pictures of panels are small and arrive as bytes, and on a machine without a
 * graphics card an emulated one would be many times slower.
 * @param {HTMLCanvasElement} canvas
 */
export function context2d(canvas) {
  return /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { willReadFrequently: true }));
}

/** Paths of the icons in a 24 × 24 box. They are drawn because not every font has such symbols. */
const ICONS = {
  anchor: "M12 8v13M5 13c0 5 3 8 7 8s7-3 7-8M8 11h8M12 3a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5",
  pause: "M8 5v14M16 5v14",
  play: "M7 4l12 8-12 8z",
  step: "M6 5l9 7-9 7zM18 5v14",
  reset: "M4 5v5h5M4.5 10A8 8 0 1 1 4 14",
  record: "M12 6a6 6 0 1 0 0 12 6 6 0 0 0 0-12",
  camera: "M3 7h4l2-2h6l2 2h4v12H3zM12 9.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7",
  layers: "M12 3l9 5-9 5-9-5zM3 13l9 5 9-5",
  tools: "M14 6a4 4 0 0 1 5-1l-2.5 2.5 1 2 2 1L22 8a4 4 0 0 1-5 5L8 21l-4-4 9-8",
  help: "M9 9a3 3 0 1 1 4 3c-1 .5-1 1-1 2M12 17.5v.5M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18",
  theme: "M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18",
  panels: "M3 5h18v14H3zM9 5v14",
  expand: "M9 3H3v6M15 3h6v6M9 21H3v-6M15 21h6v-6",
  down: "M6 9l6 6 6-6",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  close: "M6 6l12 12M18 6L6 18",
  target: "M12 3v4M12 17v4M3 12h4M17 12h4M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8",
  ruler: "M3 16L16 3l5 5L8 21zM7 12l2 2M10 9l2 2M13 6l2 2",
  send: "M4 12l16-8-6 16-3-7z",
  save: "M5 4h11l3 3v13H5zM8 4v5h7V4M8 20v-6h8v6",
  warning: "M12 4l9 16H3zM12 10v4M12 17v.5",
};

/**
 * Create an icon. It is hidden from screen readers, because its button has a text.
 * @param {keyof typeof ICONS} name
 */
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

/**
 * Create a button with an icon, a tooltip and an optional text.
 * @param {keyof typeof ICONS} picture
 * @param {string} tooltip
 * @param {Record<string, any>} attributes
 * @param {string} [text] shown beside the icon
 */
export function button(picture, tooltip, attributes, text = "") {
  return element("button", { type: "button", title: tooltip, "aria-label": text ? null : tooltip, ...attributes }, icon(picture), text);
}

/**
 * Format a number with a number of decimals, or return a dash if there is no value.
 * @param {number | null | undefined} value
 * @param {number} [digits]
 */
export function figure(value, digits = 1) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const text = value.toFixed(digits);
  return text.startsWith("-") && Number(text) === 0 ? text.slice(1) : text.replace("-", "−");
}

/**
 * Format simulated time as hours, minutes and seconds.
 * @param {number} seconds
 */
export function clock(seconds) {
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  const rest = (seconds % 60).toFixed(1).padStart(4, "0");
  return `${hours ? `${hours}:` : ""}${String(minutes).padStart(2, "0")}:${rest}`;
}

/**
 * Set the text of an element only if it differs, to avoid a new layout of the page.
 * @param {Element} where
 * @param {string} text
 */
export function write(where, text) {
  if (where.textContent !== text) where.textContent = text;
}

/**
 * Return the name of a part as a readable label: underscores become spaces.
 * @param {string} name
 */
export function label(name) {
  return name.replaceAll("_", " ");
}
