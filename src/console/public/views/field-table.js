import { make } from "../dom.js";
import { brief } from "../format.js";
import { ClientName, clientName, upstreamName } from "../names.js";
import { CLASSES, classChip } from "./badges.js";

const COLUMNS = [ClientName, "How", "Value", upstreamName, `${upstreamName}'s value`, "Rule"];

/** The index of the list row of a field; undefined if the field is not in a row. */
const rowOf = ({ field }) => /^[^.[]+\[(\d+)\]/.exec(field)?.[1];

function line(field) {
  const { v4 } = field;
  return make(
    "tr",
    {},
    make("th", { scope: "row", class: "mono main" }, field.field),
    make("td", {}, classChip(field.class), field.loss && classChip("lossy")),
    make("td", { class: "mono value", "data-label": clientName }, brief(field.value)),
    make(
      "td",
      { class: "mono", "data-label": upstreamName },
      v4.field ?? "",
      v4.field === null && v4.call && make("span", { class: "quiet" }, v4.call),
    ),
    make("td", { class: "mono value", "data-label": "=" }, brief(v4.value)),
    make(
      "td",
      { class: "rule" },
      field.rule,
      field.loss && make("span", { class: "lost" }, `${CLASSES.lossy[0]} lost: ${field.loss}`),
    ),
  );
}

/** A table of fields with their rules. Of a list it shows one row at a time. */
export function fieldTable(title, fields) {
  const rows = [...new Set(fields.map(rowOf).filter((row) => row !== undefined))];
  const body = make("tbody");
  const fill = (row) =>
    body.replaceChildren(...fields.filter((field) => [undefined, row].includes(rowOf(field))).map(line));
  const choose = make(
    "select",
    { onchange: ({ target }) => fill(target.value) },
    rows.map((row) => make("option", { value: row }, `row ${Number(row) + 1} of ${rows.length}`)),
  );
  fill(rows[0]);
  return make(
    "section",
    {},
    make(
      "div",
      { class: "head" },
      make("h2", {}, title),
      rows.length > 1 && make("label", {}, make("span", { class: "unseen" }, "Row of the list"), choose),
    ),
    make(
      "div",
      { class: "wide-table", tabindex: "0", role: "region", "aria-label": title },
      make(
        "table",
        { class: "fields cards" },
        make(
          "thead",
          {},
          make(
            "tr",
            {},
            COLUMNS.map((name) => make("th", { scope: "col" }, name)),
          ),
        ),
        body,
      ),
    ),
  );
}
