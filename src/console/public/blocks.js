/**
 * Blocks of a feature, as in the output of its command: `src/base/blocks/block.ts` defines their form.
 *
 * `src/base/blocks/html.ts` writes the same blocks as the text of a document. Here they are elements with buttons:
 * preact only changes the elements that differ after a refresh, so that the focus and opened parts stay.
 */
import { html } from "./html.js";
import { cardTable, facts, figures as figuresOf } from "./parts.js";

function spanOf(part) {
  if (typeof part === "string") return part;
  if ("code" in part) return html`<code>${part.code}</code>`;
  if ("strong" in part) return html`<b>${part.strong}</b>`;
  if ("tag" in part) return html`<span class=${`tag ${part.tone ?? ""}`}>${part.tag}</span>`;
  return html`<a href=${`#${part.to}`}>${part.link}</a>`;
}

const lineOf = (line) => [line].flat().map(spanOf);

const itemOf = (item) => (typeof item === "string" || Array.isArray(item) ? { line: item, items: [] } : item);

const listOf = (items, name, act) =>
  html`<ul class="bare-list" aria-label=${name}>
    ${items.map(itemOf).map(
      ({ line, items: below, button }) =>
        html`<li>
          <span>${lineOf(line)}</span>
          ${
            button &&
            html`<button type="button" class="quiet" onClick=${() => void act(button)}>${button.text}</button>`
          }
          ${below.length > 0 && listOf(below, undefined, act)}
        </li>`,
    )}
  </ul>`;

const numberClass = ({ number }) => number && "number";

/** Shows the nested rows of a row after a click on their title. */
const openedRow = ({ title, of, rows }, columns) =>
  html`<tr class="inside">
    <td colspan=${columns.length}>
      <details>
        <summary>${title}</summary>
        ${tableOf({ caption: title, columns: [{ ...columns[0], name: of }, ...columns.slice(1)], rows })}
      </details>
    </td>
  </tr>`;

const rowOf = (cells, columns) =>
  html`<tr>
    ${cells.map(
      (line, index) =>
        html`<td class=${numberClass(columns[index])} data-label=${columns[index].name}>${lineOf(line)}</td>`,
    )}
  </tr>`;

const tableOf = ({ caption, columns, rows, opened = [] }) =>
  cardTable(
    caption,
    columns.map(({ name, number }) => [name, number]),
    rows.map((cells, place) => [rowOf(cells, columns), opened[place] && openedRow(opened[place], columns)]),
  );

const WRITERS = {
  heading: ({ level, line, id }) => html`<${`h${level}`} id=${id}>${lineOf(line)}<//>`,
  figures: ({ figures }) => figuresOf(figures.map(({ value, text }) => [value, text])),
  values: ({ values }) => facts(values.map(([name, value]) => [name, lineOf(value)])),
  chart: ({ table }) => tableOf(table),
  table: tableOf,
  code: ({ title, text }) =>
    html`<figure>
      ${title && html`<figcaption>${title}</figcaption>`}
      <pre tabindex="0"><code>${text}</code></pre>
    </figure>`,
  text: ({ line }) => html`<p>${lineOf(line)}</p>`,
  list: ({ name, items }, act) => listOf(items, name, act),
  folded: ({ title, blocks }, act) =>
    html`<details>
      <summary>${title}</summary>
      ${showBlocks(blocks, act)}
    </details>`,
  section: ({ blocks }, act) => html`<section class="blocks">${showBlocks(blocks, act)}</section>`,
};

/** Shows blocks. @param act executes the action of an item's button */
export const showBlocks = (blocks, act) => blocks.map((block) => WRITERS[block.kind](block, act));
