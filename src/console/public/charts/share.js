import { draw, make } from "../dom.js";
import { percent } from "../format.js";

/** How much of the whole a part is, as a bar and as a figure. */
export function shareBar(part, all, what) {
  const text = percent(part, all);
  return make(
    "span",
    { class: "share" },
    draw(
      "svg",
      { viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
      draw("rect", { class: "bar-rest", width: 100, height: 8 }),
      draw("rect", { class: "bar-native", width: all === 0 ? 0 : (part / all) * 100, height: 8 }),
    ),
    make("span", { title: what }, text),
  );
}
