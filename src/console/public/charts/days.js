import { count, dayName, dayOf, percent } from "../format.js";
import { html } from "../html.js";
import { wideTable } from "../parts.js";
import { ClientName, clientName, upstreamName } from "../names.js";

const HEIGHT = 200;
const LEFT = 44;
const BOTTOM = 22;
const TOP = 8;
/** Width of one label in pixels. */
const LABEL = 80;

/** Returns the approximate display width, so that the text remains readable on a phone. */
const widthOf = () => Math.max(320, Math.min(720, innerWidth - 60));

/** Returns every day between the first and the last, including those without requests. */
function filled(days) {
  const byDay = new Map(days.map((day) => [day.day, day]));
  const all = [];
  const last = Date.parse(days.at(-1).day);
  for (let at = Date.parse(days[0].day); at <= last; at += 86_400_000) {
    const day = dayOf(at);
    all.push(byDay.get(day) ?? { day, alpha: 0, native: 0, errors: 0, lossy: 0, alphaClients: 0 });
  }
  return all;
}

/** Returns the next round number above a number. */
function ceiling(number) {
  const size = 10 ** Math.floor(Math.log10(Math.max(1, number)));
  return [1, 2, 5, 10].map((step) => step * size).find((round) => round >= number);
}

function bars({ day, alpha, native }, index, { step, scale }) {
  const width = Math.min(step * 0.76, 48);
  const x = LEFT + index * step + (step - width) / 2;
  const rect = (kind, number, below) =>
    html`<rect
      class=${kind}
      x=${x}
      width=${width}
      y=${HEIGHT - BOTTOM - (below + number) * scale}
      height=${number * scale}
    />`;
  const title = `${dayName(day)}: ${count(alpha)} ${clientName}, ${count(native)} native`;
  return html`<g><title>${title}</title>${rect("bar-alpha", alpha, 0)}${rect("bar-native", native, alpha)}</g>`;
}

function axes(days, top, { step, scale, width }) {
  const every = Math.ceil((days.length * LABEL) / width);
  const line = (number) => {
    const y = HEIGHT - BOTTOM - number * scale;
    return html`<line class="grid" x1=${LEFT} x2=${width} y1=${y} y2=${y} />
      <text x=${LEFT - 6} y=${y + 4} text-anchor="end">${count(number)}</text>`;
  };
  const label = ({ day }, index) =>
    index % every === 0 &&
    html`<text x=${LEFT + index * step + step / 2} y=${HEIGHT - 6} text-anchor="middle">${dayName(day)}</text>`;
  return [[0, top / 2, top].map(line), days.map(label)];
}

function asTable(days) {
  const row = ({ day, alpha, native }) =>
    html`<tr>
      <th scope="row">${day}</th>
      <td class="number">${count(alpha)}</td>
      <td class="number">${count(native)}</td>
      <td class="number">${percent(native, alpha + native)}</td>
    </tr>`;
  const columns = ["Day", [ClientName, true], ["Native", true], ["Share native", true]];
  return html`<details>
    <summary>The same as a table</summary>
    ${wideTable("Requests by day", columns, days.map(row))}
  </details>`;
}

/** A chart of the requests of each day: alpha at the bottom, native above it. */
export function daysChart(given) {
  const days = filled(given);
  const top = ceiling(Math.max(...days.map(({ alpha, native }) => alpha + native)));
  const width = widthOf();
  const plot = { width, step: (width - LEFT) / days.length, scale: (HEIGHT - BOTTOM - TOP) / top };
  const last = days.at(-1);
  const label = `Requests by day, ${days[0].day} to ${last.day}; on the last day ${percent(last.native, last.alpha + last.native)} native.`;
  return html`<figure class="chart">
    <figcaption>
      <span class=${"key key-alpha"}>${clientName}</span><span class="key key-native">native (${upstreamName})</span>
    </figcaption>
    <svg viewBox=${`0 0 ${width} ${HEIGHT}`} role="img" aria-label=${label}>
      ${axes(days, top, plot)} ${days.map((day, index) => bars(day, index, plot))}
    </svg>
    ${asTable(days)}
  </figure>`;
}
