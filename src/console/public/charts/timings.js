import { draw, make } from "../dom.js";
import { ms } from "../format.js";
import { upstreamName } from "../names.js";

/** Where the time of a call went: v4 and the gateway itself. */
export function timingsBar({ timings: { total, upstream } }) {
  const own = Math.max(0, total - upstream);
  const share = total === 0 ? 0 : Math.min(100, (upstream / total) * 100);
  const text = `${ms(total)}: ${upstreamName} ${ms(upstream)}, gateway ${ms(own)}`;
  return make(
    "figure",
    { class: "timings" },
    draw(
      "svg",
      { viewBox: "0 0 100 6", preserveAspectRatio: "none", role: "img", "aria-label": text },
      draw("rect", { class: "bar-v4", width: share, height: 6 }),
      draw("rect", { class: "bar-own", x: share, width: 100 - share, height: 6 }),
    ),
    make(
      "figcaption",
      {},
      make("b", {}, ms(total)),
      make("span", { class: "key key-v4" }, `${upstreamName} ${ms(upstream)}`),
      make("span", { class: "key key-own" }, `gateway ${ms(own)}`),
    ),
  );
}
