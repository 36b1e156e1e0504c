import { make } from "../dom.js";
import { clientName, upstreamName } from "../names.js";

/** A status, coloured by its class. */
export const statusBadge = (status) =>
  make(
    "span",
    { class: "badge", data: { class: status === null ? 5 : Math.trunc(status / 100) } },
    status ?? "no response",
  );

/** The classes of fields: a sign and a description for each, so that colour is not the only mark. */
export const CLASSES = {
  same: ["=", "the same value under the same name"],
  renamed: ["→", "the same value under another name or path"],
  value: ["ƒ", "another value, from a table or an expression"],
  expanded: ["+", `${upstreamName} has an id, ${clientName} the whole object`],
  derived: ["∴", "computed from other members, or constant"],
  composed: ["⋈", `computed from another ${upstreamName} call`],
  missing: ["∅", `${upstreamName} has no value, ${clientName} gets a neutral one`],
  lossy: ["≈", "the translation loses something"],
};

/** The chip of a class: its sign and its word. */
export const classChip = (name, ...more) =>
  make(
    "span",
    { class: "chip", data: { class: name }, title: CLASSES[name][1] },
    make("span", { class: "sign", "aria-hidden": "true" }, CLASSES[name][0]),
    name,
    more,
  );

/** The legend, with the number of fields of each class. Classes without fields are omitted. */
export const legend = (counts) =>
  make(
    "ul",
    { class: "legend", "aria-label": "Classes of the fields" },
    Object.keys(CLASSES)
      .filter((name) => counts[name] > 0)
      .map((name) =>
        make(
          "li",
          {},
          classChip(name, make("b", {}, ` ${counts[name]}`)),
          make("span", { class: "hint" }, CLASSES[name][1]),
        ),
      ),
  );
