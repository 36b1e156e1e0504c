import { make } from "../dom.js";

/**
 * A table whose columns sort it. A column: `name`, `value(row)` to sort by, `cell(row)` to show, `number` for figures.
 *
 * @param sorted name of the column that sorts at first, downwards.
 */
export function sortableTable({ caption, columns, rows, sorted }) {
  let by = columns.find(({ name }) => name === sorted);
  let down = true;
  const body = make("tbody");
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
    body.replaceChildren(...rows.toSorted(compare).map(line));
  }

  function sort(column) {
    down = column === by ? !down : column.number === true;
    by = column;
    fill();
  }

  const line = (row) =>
    make(
      "tr",
      {},
      columns.map(({ name, cell, number, main }) =>
        make(
          "td",
          {
            class: [number && "number", main && "main"].filter(Boolean).join(" ") || undefined,
            "data-label": name,
          },
          cell(row),
        ),
      ),
    );

  fill();
  return make(
    "table",
    { class: "cards labelled" },
    make("caption", { class: "unseen" }, caption),
    make("thead", {}, make("tr", {}, heads)),
    body,
  );
}
