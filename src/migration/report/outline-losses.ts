/** The losses with their counts and clients, as blocks. Roundings are folded. */
import type { LossClient, LossSummary } from "../../audit/index.ts";
import { type Block, formatCount, type Line, listNames, plural, tableOf } from "../../base/index.ts";
import type { ClientGuide, Report } from "./make-report.ts";
import { clientName } from "./model.ts";
import { severityTag } from "./sections.ts";

/** Maximum number of clients that are named for a loss. */
const NAMED_CLIENTS = 3;

type Loss = LossSummary & { readonly clients?: readonly LossClient[] };

/** Returns the names of some clients, and the number of further ones. */
function describeClients(clients: readonly LossClient[], guides: readonly ClientGuide[]): Line {
  const nameOf = ({ client, name, family }: LossClient): string =>
    clientName({
      client,
      name,
      family,
      userAgent: guides.find((guide) => guide.client === client)?.userAgent ?? null,
    });
  const named = clients
    .slice(0, NAMED_CLIENTS)
    .map((each) => `${nameOf(each)} (${formatCount(each.requests)})`);
  const others = clients.length - named.length;
  return [...named, ...(others > 0 ? [plural(others, "other")] : [])].join(", ");
}

const outlineTable = (losses: readonly Loss[], caption: string, guides: readonly ClientGuide[]): Block =>
  tableOf(caption, losses, [
    ["Severity", ({ severity }) => [severityTag(severity)]],
    ["What was lost", ({ loss }) => loss],
    ["Routes", ({ routes }) => listNames(routes)],
    ["Requests", ({ requests }) => formatCount(requests), "number"],
    ["Last", ({ lastDay }) => lastDay, "number"],
    ...(losses.some(({ clients }) => clients !== undefined)
      ? [["For whom", ({ clients = [] }: Loss) => describeClients(clients, guides)] as const]
      : []),
  ]);

/** Returns the losses as a table, and the roundings as a folded table. Empty if there are no losses. */
export function outlineLossTables(
  losses: readonly Loss[],
  caption: string,
  guides: readonly ClientGuide[] = [],
): Block[] {
  const heavy = losses.filter(({ severity }) => severity !== "rounding");
  const roundings = losses.filter(({ severity }) => severity === "rounding");
  const requests = roundings.reduce((sum, each) => sum + each.requests, 0);
  return [
    ...(heavy.length === 0 ? [] : [outlineTable(heavy, caption, guides)]),
    ...(roundings.length === 0
      ? []
      : [
          {
            kind: "folded" as const,
            title: `${heavy.length === 0 ? "" : "and "}${plural(roundings.length, "rounding")}, ${plural(requests, "time")}`,
            blocks: [outlineTable(roundings, "Values that were less exact", guides)],
          },
        ]),
  ];
}

/** Returns the losses of all clients. */
export function outlineLosses({ losses, clients, names }: Report): Block[] {
  if (losses.length === 0) return [];
  return [
    { kind: "heading", level: 2, line: "What was lost" },
    ...outlineLossTables(losses, "By weight, then by requests", clients),
    {
      kind: "list",
      items: [
        [
          severityTag("meaning"),
          ` the client believes something that is not so, or ${names.upstream} did not do what it asked for`,
        ],
        [severityTag("detail"), " something was not shown"],
        [severityTag("rounding"), " a value was less exact"],
      ],
    },
  ];
}
