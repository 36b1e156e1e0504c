/** The clients that would notice if something were removed, as blocks. */
import { type Block, type Item, plural } from "../../base/index.ts";
import type { NoticingClient } from "./noticing-clients.ts";
import { clientLine, clientText, firstClients, NOBODY_KNOWS, sinceText } from "./outline-impact.ts";
import type { Notice, Notices } from "./who-would-notice.ts";

const clientsText = (clients: readonly NoticingClient[]): string => plural(clients.length, "client");

/** `1 client sends it`, `2 clients send it`. */
const clientsDo = (clients: readonly NoticingClient[], verb: string): string =>
  `${clientsText(clients)} ${verb}${clients.length === 1 ? "s" : ""} it`;

function describeSent({ route, name, concern, isExact, clients }: Notice): Item {
  const what =
    concern === "callers"
      ? clientsDo(clients, "call")
      : isExact
        ? clientsDo(clients, "send")
        : `${clientsText(clients)} may send it: that is not counted`;
  return { line: `${route}${name === null ? "" : `, ${name}`}: ${what}`, items: clients.map(clientLine) };
}

/** Names of an answer that are listed. */
const MOST_NAMES = 5;

function describeRead(route: string, notices: readonly Notice[]): string {
  const names = notices.map(({ name }) => name);
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : "";
  const clients = notices[0]?.clients ?? [];
  return `${route}, ${names.slice(0, MOST_NAMES).join(", ")}${more}: ${clientsDo(clients, "get")}; ${NOBODY_KNOWS}`;
}

/** Each thing that clients send or get with its clients, and a summary. */
export function outlineNotices({ notices, clients, readers, namesSince }: Notices): Block[] {
  const used = notices.filter((notice) => notice.clients.length > 0);
  const read = Map.groupBy(
    used.filter(({ concern }) => concern === "readers"),
    ({ route }) => route,
  );
  const items: Item[] = [
    ...used.filter(({ concern }) => concern !== "readers").map(describeSent),
    ...[...read].map(([route, of]) => describeRead(route, of)),
  ];
  const list = (of: readonly NoticingClient[]): string => firstClients(of, clientText).join(", ");
  const summary =
    clients.length > 0
      ? `${clientsText(clients)} would notice: ${list(clients)}`
      : readers.length > 0
        ? `No client sends it. ${clientsDo(readers, "get")}: ${list(readers)}`
        : "No client would notice.";
  const isName = notices.some(({ concern }) => concern === "senders");
  const since = namesSince !== null && isName ? [sinceText(namesSince)] : [];
  return [
    ...(items.length > 0 ? [{ kind: "list" as const, items }] : []),
    { kind: "list", items: [summary, ...since] },
  ];
}
