import { ms } from "../format.js";
import { html } from "../html.js";
import { upstreamName } from "../names.js";

/** Shows how the time of a call is divided between v4 and the gateway. */
export function timingsBar({ timings: { total, upstream } }) {
  const own = Math.max(0, total - upstream);
  const share = total === 0 ? 0 : Math.min(100, (upstream / total) * 100);
  const [upstreamTime, ownTime] = [`${upstreamName} ${ms(upstream)}`, `gateway ${ms(own)}`];
  return html`<figure class="timings">
    <svg
      viewBox="0 0 100 6"
      preserveAspectRatio="none"
      role="img"
      aria-label=${`${ms(total)}: ${upstreamTime}, ${ownTime}`}
    >
      <rect class=${"bar-v4"} width=${share} height="6" />
      <rect class="bar-own" x=${share} width=${100 - share} height="6" />
    </svg>
    <figcaption>
      <b>${ms(total)}</b><span class=${"key key-v4"}>${upstreamTime}</span><span class="key key-own">${ownTime}</span>
    </figcaption>
  </figure>`;
}
