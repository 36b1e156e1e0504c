/** Blocks of a feature, as its command prints them: `src/base/blocks/block.ts` has their form. */
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

const listOf = (items, name, beside) =>
  html`<ul class="bare-list" aria-label=${name}>
    ${items.map(itemOf).map(
      ({ line, items: below, about }) =>
        html`<li>
          <span>${lineOf(line)}</span>
          ${about !== undefined && beside?.(about)} ${below.length > 0 && listOf(below, undefined, beside)}
        </li>`,
    )}
  </ul>`;

const WRITERS = {
  text: ({ line }) => html`<p>${lineOf(line)}</p>`,
  list: ({ name, items }, beside) => listOf(items, name, beside),
  folded: ({ title, blocks }, beside) =>
    html`<details>
      <summary>${title}</summary>
      ${showBlocks(blocks, beside)}
    </details>`,
  section: ({ blocks }, beside) => html`<section class="blocks">${showBlocks(blocks, beside)}</section>`,
};

/** Shows blocks. @param beside shown beside an item, by its subject */
export const showBlocks = (blocks, beside) => blocks.map((block) => WRITERS[block.kind](block, beside));
