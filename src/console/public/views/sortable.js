import { count } from "../format.js";
import { Component, html } from "../html.js";
import { Loaded } from "../loaded.js";

/** Number of rows that are initially displayed. */
const SHOWN = 200;

/** A number for each row, so that a row keeps its elements when the table is sorted. */
const numbers = new WeakMap();
let given = 0;
function numberOf(row) {
  if (!numbers.has(row)) numbers.set(row, (given += 1));
  return numbers.get(row);
}

const ariaSort = (isDown) => (isDown ? "descending" : "ascending");

/** A row, with a button in its main cell if it can be expanded. */
class Row extends Component {
  state = { isOpen: false, wasOpen: false };

  toggle() {
    this.setState(({ isOpen }) => ({ isOpen: !isOpen, wasOpen: true }));
  }

  render({ row, columns, opens }, { isOpen, wasOpen }) {
    const button =
      opens &&
      html`<button
        type="button"
        class="open"
        aria-expanded=${String(isOpen)}
        aria-label=${opens.label}
        onClick=${() => this.toggle()}
      >
        ${opens.text}
      </button>`;
    const classOf = ({ number, main }) => [number && "number", main && "main"].filter(Boolean).join(" ");
    return html`
      <tr>
        ${columns.map(
          (column) =>
            html`<td class=${classOf(column) || null} data-label=${column.name}>
              ${column.cell(row)}${column.main && button}
            </td>`,
        )}
      </tr>
      ${
        opens &&
        html`<tr class="inside" hidden=${!isOpen}>
          <td colspan=${columns.length}>${wasOpen && html`<${Loaded} load=${() => opens.open(row)} />`}</td>
        </tr>`
      }
    `;
  }
}

class SortableTable extends Component {
  state = { sorted: this.props.sorted, isDown: true, shown: SHOWN };

  sort({ name, number }) {
    this.setState(({ sorted, isDown }) => ({
      sorted: name,
      isDown: name === sorted ? !isDown : number === true,
    }));
  }

  sortedRows({ columns, rows }, { sorted, isDown, shown }) {
    const { value } = columns.find(({ name }) => name === sorted);
    const compare = (left, right) => {
      const [a, b] = [value(left), value(right)];
      const order =
        typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
      return isDown ? -order : order;
    };
    return rows.toSorted(compare).slice(0, shown);
  }

  render(props, state) {
    const { caption, columns, rows, opening = () => undefined } = props;
    const { sorted, isDown, shown } = state;
    const left = rows.length - shown;
    const heads = columns.map(
      (column) =>
        html`<th
          scope="col"
          class=${column.number && "number"}
          aria-sort=${column.name === sorted ? ariaSort(isDown) : null}
        >
          <button type="button" class="sort" onClick=${() => this.sort(column)}>${column.name}</button>
        </th>`,
    );
    const lines = this.sortedRows(props, state).map(
      (row) => html`<${Row} key=${numberOf(row)} ...${{ row, columns, opens: opening(row) }} />`,
    );
    const more = `Show ${count(Math.min(SHOWN, left))} more of ${count(left)}`;
    return html`
      <table class="cards labelled">
        <caption class="unseen">${caption}</caption>
        <thead><tr>${heads}</tr></thead>
        <tbody>${lines}</tbody>
      </table>
      ${
        left > 0 &&
        html`<p class="more">
          <button type="button" onClick=${() => this.setState({ shown: shown + SHOWN })}>${more}</button>
        </p>`
      }
    `;
  }
}

/**
 * A table with sortable columns. A different caption creates a new table. A column: `name`, `value(row)` to sort by,
 * `cell(row)` to show, `number` for figures.
 *
 * @param sorted name of the column that sorts at first, downwards.
 * @param opening the details of a row: `{ text, label, open(row) }`. Undefined for a row without details
 */
export const sortableTable = (props) => html`<${SortableTable} key=${props.caption} ...${props} />`;
