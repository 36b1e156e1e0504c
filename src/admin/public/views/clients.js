import { shareBar } from "../charts/share.js";
import { read } from "../api.js";
import { emptyState, make } from "../dom.js";
import { ago, count, dateTime, percent, plural } from "../format.js";
import { address } from "../router.js";
import { clientName } from "../names.js";
import { readinessTag } from "./readiness.js";
import { sortableTable } from "./sortable.js";

const when = (iso) => make("time", { datetime: iso, title: dateTime(iso) }, ago(iso));

/** The address of a client's page. All requests without a token are one client. */
const clientLink = (client, name) =>
  make(
    "a",
    { href: address("clients", client ?? "none"), class: name === null && "mono" },
    name ?? client ?? "no token",
  );

/** The cell of a client in a table. */
export const clientColumn = {
  name: "Client",
  main: true,
  value: ({ client, name }) => name ?? client ?? "",
  cell: ({ client, name, userAgent }) => [
    clientLink(client, name),
    make("span", { class: "under" }, userAgent ?? "no user agent"),
  ],
};

const DAY_MS = 86_400_000;

/** A pause that is longer than the quiet time: being quiet says little about this client. */
const pauseNote = ({ isPauseLonger, longestPauseMs }) =>
  isPauseLonger &&
  make("span", { class: "under" }, `paused for ${Math.floor(longestPauseMs / DAY_MS)} days before`);

/** A client that called alpha again after it had been ready. */
const returnNote = ({ cameBack }) =>
  cameBack !== null && make("span", { class: "under" }, `came back on ${cameBack}`);

/** The state of a client's migration, and its last call. */
export const STATE_COLUMNS = [
  {
    name: "State",
    value: ({ state }) => state ?? "",
    cell: (row) => [readinessTag(row.state), returnNote(row), pauseNote(row)],
  },
  {
    name: `Last ${clientName} call`,
    number: true,
    value: ({ lastAlpha }) => (lastAlpha === null ? 0 : Date.parse(lastAlpha)),
    cell: ({ lastAlpha }) => (lastAlpha === null ? "never" : when(lastAlpha)),
  },
];

const COLUMNS = [
  clientColumn,
  {
    name: "Requests",
    number: true,
    value: ({ requests }) => requests,
    cell: ({ requests }) => count(requests),
  },
  {
    name: "Errors",
    number: true,
    value: ({ errors, requests }) => errors / requests,
    cell: ({ errors, requests }) => `${count(errors)} (${percent(errors, requests)})`,
  },
  { name: "Lossy", number: true, value: ({ lossy }) => lossy, cell: ({ lossy }) => count(lossy) },
  {
    name: "Native",
    number: true,
    value: ({ native, requests }) => native / requests,
    cell: ({ native, requests }) => shareBar(native, requests, "of its requests are native"),
  },
  {
    name: "First seen",
    number: true,
    value: ({ first }) => Date.parse(first),
    cell: ({ first }) => when(first),
  },
  { name: "Last seen", number: true, value: ({ last }) => Date.parse(last), cell: ({ last }) => when(last) },
  ...STATE_COLUMNS,
];

/** All clients, by the fingerprints of their tokens. */
export async function showClients({ signal }) {
  const { clients } = await read("/api/usage/clients", signal);
  const head = make("h1", {}, "Clients");
  if (clients.length === 0)
    return [
      head,
      emptyState(
        "No client yet",
        "Each token that calls the gateway is a client. Its name is the fingerprint of the token.",
      ),
    ];
  return [
    make(
      "div",
      { class: "head" },
      head,
      make(
        "p",
        { class: "hint" },
        `${plural(clients.length, "client")}, by the fingerprints of their tokens`,
      ),
    ),
    sortableTable({
      caption: "Clients",
      columns: COLUMNS,
      rows: clients,
      sorted: "Requests",
    }),
  ];
}
