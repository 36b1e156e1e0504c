import { make } from "../dom.js";
import { count } from "../format.js";

/** Rows that are shown at once. */
const SHOWN = 200;

/** A button that shows and hides a row below its own. @param open returns the content of that row */
function disclosure({ text, label, open }, width, row) {
  const inside = make("td", { colspan: width });
  const below = make("tr", { class: "inside", hidden: true }, inside);
  const button = make(
    "button",
    {
      type: "button",
      class: "open",
      "aria-expanded": "false",
      "aria-label": label,
      onclick: () => void toggle(),
    },
    text,
  );

  async function toggle() {
    below.hidden = !below.hidden;
    button.setAttribute("aria-expanded", !below.hidden);
    if (below.hidden || inside.hasChildNodes()) return;
    inside.replaceChildren(await open(row));
  }

  return { button, below };
}

/**
 * A table whose columns sort it. A column: `name`, `value(row)` to sort by, `cell(row)` to show, `number` for figures.
 *
 * @param sorted name of the column that sorts at first, downwards.
 * @param opening what a row opens to: `{ text, label, open(row) }`; undefined for one that does not open
 */
export function sortableTable({ caption, columns, rows, sorted, opening = () => undefined }) {
  let by = columns.find(({ name }) => name === sorted);
  let down = true;
  let shown = SHOWN;
  const body = make("tbody");
  const lines = new Map();
  const more = make("button", {
    type: "button",
    onclick: () => {
      shown += SHOWN;
      fill();
    },
  });
  const heads = columns.map((column) =>
    make(
      "th",
      { scope: "col", class: column.number && "number" },
      make("button", { type: "button", class: "sort", onclick: () => sort(column) }, column.name),
    ),
  );

  function compare(left, right) {
    const [a, b] = [by.value(left), by.value(right)];
    const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
    return down ? -order : order;
  }

  function fill() {
    columns.forEach((column, index) => {
      if (column === by) heads[index].setAttribute("aria-sort", down ? "descending" : "ascending");
      else heads[index].removeAttribute("aria-sort");
    });
    body.replaceChildren(...rows.toSorted(compare).slice(0, shown).flatMap(linesOf));
    const left = rows.length - shown;
    more.hidden = left <= 0;
    more.textContent = `Show ${count(Math.min(SHOWN, left))} more of ${count(left)}`;
  }

  function sort(column) {
    down = column === by ? !down : column.number === true;
    by = column;
    fill();
  }

  /** The lines of a row, which stay open when the table is sorted. */
  function linesOf(row) {
    if (!lines.has(row)) lines.set(row, line(row));
    return lines.get(row);
  }

  function line(row) {
    const opens = opening(row);
    const opened = opens && disclosure(opens, columns.length, row);
    const cells = columns.map(({ name, cell, number, main }) =>
      make(
        "td",
        {
          class: [number && "number", main && "main"].filter(Boolean).join(" ") || undefined,
          "data-label": name,
        },
        cell(row),
        main && opened && opened.button,
      ),
    );
    return [make("tr", {}, cells), opened && opened.below].filter(Boolean);
  }

  fill();
  const table = make(
    "table",
    { class: "cards labelled" },
    make("caption", { class: "unseen" }, caption),
    make("thead", {}, make("tr", {}, heads)),
    body,
  );
  return rows.length <= SHOWN ? table : make("div", {}, table, make("p", { class: "more" }, more));
}
