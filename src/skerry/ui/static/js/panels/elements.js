// @ts-check
// Small pieces that panels are built of: elements, icons, figures.

/**
 * An element. `on` holds listeners, `testid` names it for tests, booleans are switched, the rest are attributes.
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
 * To draw on a canvas by the processor: what panels draw comes as bytes, is small, and a machine without a graphics card would
 * emulate one at many times the cost.
 * @param {HTMLCanvasElement} canvas
 */
export function paper(canvas) {
  return /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { willReadFrequently: true }));
}

/** Strokes on a grid of 24; drawn here, because fonts do not have such signs everywhere. */
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
 * A line drawing, hidden from screen readers: the button that has it has words.
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
 * A button with an icon and, beside it or as its tooltip, words.
 * @param {keyof typeof ICONS} picture
 * @param {string} words
 * @param {Record<string, any>} attributes
 * @param {string} [text] shown beside the icon
 */
export function button(picture, words, attributes, text = "") {
  return element("button", { type: "button", title: words, "aria-label": text ? null : words, ...attributes }, icon(picture), text);
}

/**
 * A figure with so many digits, or a dash where there is none.
 * @param {number | null | undefined} value
 * @param {number} [digits]
 */
export function figure(value, digits = 1) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const text = value.toFixed(digits);
  return text.startsWith("-") && Number(text) === 0 ? text.slice(1) : text.replace("-", "−");
}

/**
 * Minutes and seconds of simulated time.
 * @param {number} seconds
 */
export function clock(seconds) {
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  const rest = (seconds % 60).toFixed(1).padStart(4, "0");
  return `${hours ? `${hours}:` : ""}${String(minutes).padStart(2, "0")}:${rest}`;
}

/**
 * Puts text where it differs, so that nothing is laid out again for nothing.
 * @param {Element} where
 * @param {string} text
 */
export function write(where, text) {
  if (where.textContent !== text) where.textContent = text;
}

/**
 * Words for people out of a part's name.
 * @param {string} name
 */
export function words(name) {
  return name.replaceAll("_", " ");
}
