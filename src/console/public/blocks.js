/** Blocks of a feature, as in the output of its command: `src/base/blocks/block.ts` defines their form. */
import { html } from "./html.js";

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

const WRITERS = {
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
