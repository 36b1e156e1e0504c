/** The texts of mails. Names that clients sent have no line breaks and no control characters there. */
import { toVisibleLine } from "../dialect/visible-text.ts";
import type { ClientReport } from "./digest.ts";
import type {
  ClientData,
  DigestData,
  Notice,
  NoticeData,
  NoticeEvent,
  NoticeType,
  StageData,
  StateChange,
} from "./notice.ts";

export interface MailText {
  readonly subject: string;
  readonly text: string;
}

/** Subjects are read in lists. */
const MAX_SUBJECT = 120;
const MAX_LINE = 300;

const cut = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text;

/** One line of a mail, from texts of clients too. */
const line = (text: string): string => cut(toVisibleLine(text), MAX_LINE);

const mail = (subject: string, lines: readonly string[]): MailText => ({
  subject: cut(toVisibleLine(subject), MAX_SUBJECT),
  text: `${lines.map(line).join("\n")}\n`,
});

const minuteOf = (iso: string | null): string =>
  iso === null ? "never" : `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
const dayOf = (iso: string | null): string => iso?.slice(0, 10) ?? "never";

/** What happened once, and more often. */
const NAMES: Readonly<Record<NoticeEvent, readonly [one: string, several: string]>> = {
  "client.new": ["new client", "new clients"],
  "client.came_back": ["client that came back", "clients that came back"],
  "client.ready": ["client that is ready", "clients that are ready"],
  "stage.begins": ["stage that begins", "stages that begin"],
  "stage.ends": ["stage that ends", "stages that end"],
  storm: ["storm of retries", "storms of retries"],
  loss: ["loss", "losses"],
};

const moreOf = (event: NoticeEvent, count: number): string =>
  `${count} more ${NAMES[event][count === 1 ? 0 : 1]}`;

const requestsOf = (count: number): string => `${count} request${count === 1 ? "" : "s"}`;

const clientLines = ({ client, isNamed, userAgent, state, lastAlpha, lastNative }: ClientData): string[] => [
  `Client: ${client}${isNamed ? "" : " (not in the client directory)"}`,
  ...(userAgent === null ? [] : [`User agent: ${userAgent}`]),
  `State: ${state}`,
  `Last call of the old API: ${minuteOf(lastAlpha)}`,
  `Last call of the new API: ${minuteOf(lastNative)}`,
];

const stageLines = ({ stage, kind, until, routes, clients }: StageData): string[] => [
  `Stage: ${stage} (${kind.replace("_", "-")})`,
  ...(until === null ? [] : [`Until: ${minuteOf(until)}`]),
  ...(routes.length > 0 ? [`Routes: ${routes.join(", ")}`] : []),
  ...(clients.length > 0 ? [`Clients: ${clients.join(", ")}`] : []),
];

const changeLine = ({ client, from, to, at }: StateChange): string =>
  `- ${client}: ${from} to ${to}, ${minuteOf(at)}`;

const moreLine = (count: number): string[] => (count > 0 ? [`- and ${count} more`] : []);

function digestMail({ digest, since, states, clients, changes, next, end, ...counts }: DigestData): MailText {
  const { "not begun": notBegun, moving, ready, silent } = states;
  return mail(`Migration, ${digest}: ${notBegun + moving} to go, ${ready} ready, ${silent} silent`, [
    `Since ${minuteOf(since)}`,
    "",
    `Not begun: ${notBegun}`,
    `Moving: ${moving}`,
    `Ready: ${ready}`,
    `Silent, unknown: ${silent}`,
    "",
    "What changed:",
    ...(changes.length === 0 ? ["- nothing"] : changes.map(changeLine)),
    ...moreLine(counts.moreChanges),
    "",
    "Clients that are not ready:",
    ...(clients.length === 0 ? ["- none"] : []),
    ...clients.map(
      ({ client, state, lastAlpha, requests }) =>
        `- ${client}: ${state}, ${requestsOf(requests)}, the last one of the old API on ${dayOf(lastAlpha)}`,
    ),
    ...moreLine(counts.moreClients),
    "",
    "What is next in the plan:",
    ...(next.length === 0 ? ["- nothing"] : []),
    ...next.map(
      ({ stage, state, from, until }) =>
        `- ${stage}: ${state}, from ${minuteOf(from)}${until === null ? "" : ` until ${minuteOf(until)}`}`,
    ),
    ...(end === null ? [] : [`- The old API ends on ${dayOf(end)}`]),
  ]);
}

/** The mail of each kind of notice. */
const MAILS: { readonly [Type in NoticeType]: (data: NoticeData[Type]) => MailText } = {
  "client.new": (data) => mail(`New client of the old API: ${data.client}`, clientLines(data)),
  "client.ready": (data) => mail(`Ready: ${data.client}`, clientLines(data)),
  "client.came_back": (data) =>
    mail(`Came back to the old API: ${data.client}`, [...clientLines(data), `Came back: ${data.cameBack}`]),
  "stage.begins": (data) => mail(`Stage begins: ${data.stage}`, stageLines(data)),
  "stage.ends": (data) => mail(`Stage ends: ${data.stage}`, [...stageLines(data), `State: ${data.state}`]),
  storm: ({ stage, reason }) =>
    mail(`Storm of retries: ${stage ?? "the plan"} is paused`, [
      `Reason: ${reason ?? "unknown"}`,
      "It continues when a person resumes it.",
    ]),
  loss: ({ client, route, loss, since }) =>
    mail(`Loss: ${loss}`, [
      `Client: ${client}`,
      `Route: ${route}`,
      `What is lost: ${loss}`,
      `Since: ${since}`,
    ]),
  more: ({ event, count, hour }) =>
    mail(moreOf(event, count), [
      `${moreOf(event, count)} in the hour from ${minuteOf(hour)} on.`,
      "No notice was sent for each of them.",
    ]),
  digest: digestMail,
  test: ({ receiver }) => mail("Test of notices", [`The receiver "${receiver}" works.`]),
};

/** The mail of a notice. */
export const mailOf = ({ type, data }: Notice): MailText =>
  (MAILS[type] as (data: unknown) => MailText)(data);

/** The mail to the contact of a client: what the client's own page shows. */
export function contactMail({ client, state, end, guide, routes }: ClientReport): MailText {
  return mail(`${client}: the old API${end === null ? " is going away" : ` ends on ${dayOf(end)}`}`, [
    `This is the weekly report about ${client}.`,
    `State: ${state}`,
    end === null ? "No date of the end is known yet." : `The old API ends for it on ${dayOf(end)}.`,
    ...(guide === null ? [] : [`How to migrate: ${guide}`]),
    "",
    "Its calls of the old API, and what replaces them:",
    ...routes.flatMap((route) => [
      `- ${route.route}: ${requestsOf(route.requests)}, the last one on ${dayOf(route.last)}`,
      `  ${route.replacement === null ? "has no counterpart" : `is now ${route.replacement}`}`,
      ...(route.end !== null && route.end !== end ? [`  ends on ${dayOf(route.end)}`] : []),
    ]),
  ]);
}
