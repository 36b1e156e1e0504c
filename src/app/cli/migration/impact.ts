import type { Command } from "commander";
import { readUsageQuery } from "../../../console/index.ts";
import { type AuditStore, openExistingAuditStore } from "../../../audit/index.ts";
import { loadPack, type Pack, packFolder } from "../../../pack/index.ts";
import { plural, toVisibleLine } from "../../../base/index.ts";
import { collectExpressions } from "../../../jsonata/index.ts";
import {
  callsText,
  clientLines,
  clientText,
  findNotices,
  findPackImpact,
  findQuestions,
  findUpstreamImpact,
  type Impact,
  IMPACT_FORMATS,
  type ImpactContext,
  type ImpactFormat,
  namesOfRoutes,
  type Notice,
  type Notices,
  type NoticingClient,
  openapiSurface,
  readOpenapi,
  sinceText,
  wordsOfExpressions,
} from "../../../migration/index.ts";
import type { CommandSettings } from "../command-settings.ts";
import { readDirectory } from "./operator-files.ts";
import { assertNoProblems } from "./record-filters.ts";
import { print, printData, printError } from "../terminal.ts";

export interface ImpactFlags {
  readonly route?: string;
  readonly field?: string;
  readonly word?: string;
  readonly pack?: string;
  /** The old and the new document. */
  readonly openapi?: readonly string[];
  readonly format: ImpactFormat;
  readonly since?: string;
  readonly until?: string;
}

/** The exit code where what is asked can't be answered. */
const NOT_ANSWERED = 2;

/** Errors that an operator can correct. Others are bugs. */
const isOperatorError = (error: unknown): error is Error & { readonly code: string } =>
  error instanceof Error && "code" in error && typeof error.code === "string" && error.code.startsWith("AG_");

/** Reports what no flag can mean. */
function checkFlags({ route, field, word, pack, openapi, format }: ImpactFlags, command: Command): void {
  const fail = (message: string): never => command.error(`error: ${message}`);
  const isQuestion = (route ?? field ?? word) !== undefined;
  const asked = [isQuestion, pack !== undefined, openapi !== undefined].filter(Boolean).length;
  if (asked !== 1)
    fail(
      "give one of --route, --field or --word, of --pack, and of --openapi: what may go, or what would change",
    );
  if (field !== undefined && word !== undefined)
    fail("--word names the field: --word FIELD=WORD, without --field");
  if (word !== undefined && !/^[^=]+=./.test(word)) fail("--word has the form FIELD=WORD");
  if (openapi !== undefined && openapi.length !== 2)
    fail("--openapi needs two files: the old edition and the new one");
  if (isQuestion && format === "markdown") fail("--format markdown belongs to --pack and --openapi");
}

const NOBODY_KNOWS = "nobody can know who reads it: a field brown-out of the plan shows it";

const clientsText = (clients: readonly NoticingClient[]): string => plural(clients.length, "client");

/** `1 client sends it`, `2 clients send it`. */
const clientsDo = (clients: readonly NoticingClient[], verb: string): string =>
  `${clientsText(clients)} ${verb}${clients.length === 1 ? "s" : ""} it`;

function formatSent({ route, name, concern, isExact, clients }: Notice): string[] {
  const what =
    concern === "callers"
      ? clientsDo(clients, "call")
      : isExact
        ? clientsDo(clients, "send")
        : `${clientsText(clients)} may send it: that is not counted`;
  return [
    `${route}${name === null ? "" : `, ${name}`}: ${what}`,
    ...clients.map((client) => `    ${clientText(client)}: ${callsText(client)}`),
  ];
}

/** Names of an answer that are listed. */
const MOST_NAMES = 5;

function formatRead(route: string, notices: readonly Notice[]): string {
  const names = notices.map(({ name }) => name);
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : "";
  const clients = notices[0]?.clients ?? [];
  return `${route}, ${names.slice(0, MOST_NAMES).join(", ")}${more}: ${clientsDo(clients, "get")}; ${NOBODY_KNOWS}`;
}

function formatNotices({ notices, clients, readers, namesSince }: Notices): string {
  const used = notices.filter((notice) => notice.clients.length > 0);
  const read = Map.groupBy(
    used.filter(({ concern }) => concern === "readers"),
    ({ route }) => route,
  );
  const lines = [
    ...used.filter(({ concern }) => concern !== "readers").flatMap(formatSent),
    ...[...read].map(([route, of]) => formatRead(route, of)),
  ];
  const list = (of: readonly NoticingClient[]): string => clientLines(of, clientText).join(", ");
  const summary =
    clients.length > 0
      ? `${clientsText(clients)} would notice: ${list(clients)}`
      : readers.length > 0
        ? `No client sends it. ${clientsDo(readers, "get")}: ${list(readers)}`
        : "No client would notice.";
  const isName = notices.some(({ concern }) => concern === "senders");
  const since = namesSince !== null && isName ? [sinceText(namesSince)] : [];
  return [...lines, ...(lines.length > 0 ? [""] : []), summary, ...since]
    .map((line) => `${toVisibleLine(line)}\n`)
    .join("");
}

/** Prints who would notice if something were gone. @returns the exit code */
async function askWho(
  { route, field, word, format }: ImpactFlags,
  pack: Pack,
  context: ImpactContext,
): Promise<number> {
  const [ofWord, ...rest] = word?.split("=") ?? [];
  const subject = { route, field: field ?? ofWord, ...(word !== undefined && { word: rest.join("=") }) };
  const questions = findQuestions(subject, namesOfRoutes(pack));
  if (questions.length === 0) {
    print(
      `The pack has no such ${subject.field === undefined ? "route" : "field or word"}: nothing is counted of it.\n`,
    );
    return NOT_ANSWERED;
  }
  const notices = await findNotices(questions, context);
  if (format === "json") printData(`${JSON.stringify(notices, null, 2)}\n`);
  else print(formatNotices(notices));
  return notices.clients.length + notices.readers.length > 0 ? 1 : 0;
}

/** Reads both editions and compares them. */
async function compareDocuments(
  [old = "", now = ""]: readonly string[],
  load: { readonly result: Pack; readonly words: ReadonlySet<string> },
  context: ImpactContext,
): Promise<Impact> {
  const before = openapiSurface(await readOpenapi(old));
  const after = openapiSurface(await readOpenapi(now));
  return findUpstreamImpact(before, after, { ...context, pack: load.result, words: load.words });
}

/**
 * Runs `alpha-gateway impact`.
 *
 * @returns the exit code: 0 if no client is touched, 1 if one is, 2 if that can't be said
 */
export async function impact(
  flags: ImpactFlags,
  settings: CommandSettings,
  command: Command,
): Promise<number> {
  checkFlags(flags, command);
  try {
    return await answer(flags, settings, command);
  } catch (error) {
    if (!isOperatorError(error)) throw error;
    printError(`${error.code}: ${error.message}\n`);
    return NOT_ANSWERED;
  }
}

async function answer(flags: ImpactFlags, settings: CommandSettings, command: Command): Promise<number> {
  const { since = "", until = "" } = flags;
  const { query: range, problems } = readUsageQuery({ since, until });
  assertNoProblems(problems, command);
  const directory = readDirectory(settings.CLIENTS_FILE);
  const folder = packFolder(settings.MAPPINGS_DIR);
  const { result: pack, expressions } = collectExpressions(() => loadPack(folder, settings.WORDS));
  const other = flags.pack === undefined ? undefined : loadPack(packFolder(flags.pack), settings.WORDS);
  const store: AuditStore = await openExistingAuditStore(settings);
  try {
    const context = { store, directory, range };
    if (other === undefined && flags.openapi === undefined) return await askWho(flags, pack, context);
    const words = wordsOfExpressions(expressions.map(({ source }) => source));
    const found = other
      ? await findPackImpact(pack, other, context)
      : await compareDocuments(flags.openapi ?? [], { result: pack, words }, context);
    const text = IMPACT_FORMATS[flags.format](found);
    if (flags.format === "text") print(text);
    else printData(text);
    return found.counts["breaking and used"] > 0 ? 1 : 0;
  } finally {
    await store.close();
  }
}
