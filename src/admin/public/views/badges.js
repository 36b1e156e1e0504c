import { make } from "../dom.js";

/** A status with its class as colour; the number itself says the same. */
export const statusBadge = (status) =>
  make(
    "span",
    { class: "badge", data: { class: status === null ? 5 : Math.trunc(status / 100) } },
    status ?? "no answer",
  );

/** How fields come about: a sign, a word and a sentence for each, so that no colour has to be known. */
export const CLASSES = {
  same: ["=", "the same value in the same place"],
  renamed: ["→", "the same value under another name or place"],
  value: ["ƒ", "another value, through a table or a formula"],
  expanded: ["+", "v4 gives an id, alpha the whole object"],
  derived: ["∴", "made from other members, or a constant"],
  composed: ["⋈", "made from another v4 call"],
  absent: ["∅", "v4 has nothing, alpha gets a neutral value"],
  lossy: ["≈", "something can't be kept"],
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

/** The legend, with how many there are of each. Those that are not there are left out. */
export const legend = (counts) =>
  make(
    "ul",
    { class: "legend", "aria-label": "How the fields come about" },
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
