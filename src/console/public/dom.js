/** Creates all elements of the console. Text is never parsed as HTML, whatever it contains. */

const SVG = "http://www.w3.org/2000/svg";

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "data") Object.assign(node.dataset, value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return node;
}

/** `make("td", { class: "number" }, "12")`; `onclick` is a listener, `data` the data-attributes. */
export const make = (name, attributes = {}, ...children) =>
  filled(document.createElement(name), attributes, children);

/** Creates an SVG element. */
export const draw = (name, attributes = {}, ...children) =>
  filled(document.createElementNS(SVG, name), attributes, children);

/** Announces a text to screen readers. */
export function say(text) {
  document.getElementById("announcement").textContent = text;
}

/** Shown in place of an empty view: what it would show, and how to get data. */
export const emptyState = (title, ...hints) =>
  make(
    "div",
    { class: "empty" },
    make("h2", {}, title),
    hints.map((hint) => make("p", {}, hint)),
  );

export const problem = (text) => make("p", { class: "problem", role: "alert" }, text);

export const loading = () => make("p", { class: "hint", "aria-busy": "true" }, "Loading…");
