import { read, repeat } from "../api.js";
import { ms, plural, time } from "../format.js";
import { Component, html } from "../html.js";
import { emptyState, say } from "../parts.js";
import { address, keepInAddress } from "../router.js";
import { exportFormats, upstreamName } from "../names.js";
import { trafficFilters } from "./filters.js";
import { auditQuery, FIELDS } from "./record-filters.js";
import { statusBadge } from "./badges.js";

const PAGE = 50;
const EVERY_MS = 2000;

/** Shows one call as a row with a link that opens the call. */
function row({ id, time: at, alpha, client, lane, timings, v4, losses }) {
  const path = alpha.path + (alpha.query && `?${alpha.query}`);
  return html`<tr key=${id} data-id=${id}>
    <td class="time"><time datetime=${at} title=${at}>${time(at)}</time></td>
    <td class="mono quiet" title=${client.userAgent}>${client.fingerprint ?? "no token"}</td>
    <td class="main">
      <a href=${address("traffic", id)} class="call"><b>${alpha.method}</b> ${path}</a>
      ${lane !== "alpha" && html`<span class="tag">${lane}</span>`}
      ${
        losses.length > 0 &&
        html`<span class="tag loss" title=${losses.join("\n")}>≈ ${plural(losses.length, "loss", "losses")}</span>`
      }
    </td>
    <td>${statusBadge(alpha.status)}</td>
    <td class="quiet" data-label=${upstreamName}>
      ${v4.map(({ status }) => status ?? "no answer").join(", ") || "none"}
    </td>
    <td class="number">${ms(timings.total)}</td>
  </tr>`;
}

const table = (records) =>
  html`<table class="cards">
    <caption class="unseen">Calls, the newest first</caption>
    <thead>
      <tr>
        ${["Time", "Client", "Call", "Status", `${upstreamName} calls`].map(
          (name) => html`<th scope="col">${name}</th>`,
        )}
        <th scope="col" class="number">Duration</th>
      </tr>
    </thead>
    <tbody>${records.map(row)}</tbody>
  </table>`;

/** Links to exports of the filtered requests. */
function exportLinks(filters) {
  const query = auditQuery(filters);
  const link = (format) => {
    query.set("format", format);
    return html`<a href=${`/api/audit/export?${query}`} download>${format.toUpperCase()}</a>${" "}`;
  };
  return html`<p class="links">Export ${exportFormats.map(link)}</p>`;
}

const noCalls = () =>
  emptyState(
    "No calls yet",
    "Calls of clients appear here live.",
    "Send one with the curl line that the gateway printed at its start.",
  );

const noMatch = () => emptyState("No call matches", "Widen the filters, or clear them.");

/** Reads a page of records. @param before the start of the page; undefined for the newest */
function readPage(filters, before, signal) {
  const query = auditQuery(filters);
  query.set("limit", PAGE);
  if (before) query.set("before", before);
  return read(`/api/audit?${query}`, signal);
}

/** The live list of calls. */
class Traffic extends Component {
  control = new AbortController();
  asked = 0;
  state = {
    filters: this.props.filters,
    isLive: true,
    // While older pages are displayed, the table is not updated, because it would lose them.
    hasOlder: false,
    routes: [],
    note: "",
    ...this.stateOf(this.props.first),
  };

  stateOf({ records, next, error }) {
    return error ? { note: error.message } : { records, next, note: "", routes: this.offered(records) };
  }

  /** Adds routes of these records to the suggestions. */
  offered(records) {
    const seen = records.map(({ alpha }) => alpha.route).filter(Boolean);
    return [...new Set([...(this.state?.routes ?? []), ...seen])];
  }

  componentDidMount() {
    repeat(async () => this.state.isLive && this.refresh(), EVERY_MS, this.control.signal);
  }

  componentWillUnmount() {
    this.control.abort();
  }

  /** Reads a page. Drops it if a different page was requested in the meantime. */
  async page(before) {
    this.asked += 1;
    const own = this.asked;
    const { signal } = this.control;
    const page = await readPage(this.state.filters, before, signal).catch((error) => ({ error }));
    return own === this.asked && !signal.aborted ? page : undefined;
  }

  async refresh() {
    if (this.state.hasOlder) return;
    const page = await this.page();
    if (page) this.setState(this.stateOf(page));
  }

  async readOlder() {
    this.setState({ hasOlder: true });
    const page = await this.page(this.state.next);
    if (!page) return;
    const { records = [], ...rest } = this.stateOf(page);
    this.setState({ ...rest, records: [...this.state.records, ...records] });
    if (!page.error) say(plural(records.length, "older call"));
  }

  restart(filters) {
    keepInAddress("traffic", filters);
    this.setState({ filters, hasOlder: false }, () => void this.refresh());
  }

  toggle() {
    const isLive = !this.state.isLive;
    this.setState({ isLive });
    say(isLive ? "The list is live." : "The list is paused.");
    if (isLive) this.restart(this.state.filters);
  }

  render({ filters: first }, { filters, isLive, records, routes, next, note }) {
    const changed = (filled) => this.restart(filled);
    const isNarrowed = Object.values(filters).some(Boolean);
    return html`
      <div class="head">
        <h1>Traffic</h1>
        <button type="button" class="live" aria-pressed=${String(isLive)} onClick=${() => this.toggle()}>
          ${isLive ? "Live" : "Paused"}
        </button>
        ${exportLinks(filters)}
      </div>
      ${trafficFilters({ values: first, routes, changed })}
      <p class="hint" aria-live="polite">${note}</p>
      ${records?.length > 0 && table(records)}
      ${records?.length === 0 && (isNarrowed ? noMatch() : noCalls())}
      <p class="more">
        <button type="button" hidden=${!next} onClick=${() => void this.readOlder()}>Older calls</button>
      </p>
    `;
  }
}

/** The live list of calls. */
export async function showTraffic({ signal, parameters }) {
  const filters = Object.fromEntries(Object.keys(FIELDS).map((name) => [name, parameters.get(name) ?? ""]));
  const first = await readPage(filters, undefined, signal).catch((error) => ({ error }));
  return html`<${Traffic} filters=${filters} first=${first} />`;
}
