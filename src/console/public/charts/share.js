import { percent } from "../format.js";
import { html } from "../html.js";

/** Shows the share of a part as a bar and as a number. */
export const shareBar = (part, all, what) =>
  html`<span class="share">
    <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
      <rect class="bar-rest" width="100" height="8" />
      <rect class="bar-native" width=${all === 0 ? 0 : (part / all) * 100} height="8" />
    </svg>
    <span title=${what}>${percent(part, all)}</span>
  </span>`;
