import type { Command } from "commander";
import { openExistingAuditStore, readUsageQuery } from "../../../audit/index.ts";
import { loadPack, type Pack, packFolder } from "../../../pack/index.ts";
import { isOperatorError, withClosing, type Settings } from "../../../base/index.ts";
import { collectExpressions } from "../../../jsonata/index.ts";
import {
  findNotices,
  findPackImpact,
  findQuestions,
  findUpstreamImpact,
  type Impact,
  IMPACT_FORMATS,
  type ImpactContext,
  type ImpactFormat,
  namesOfRoutes,
  openapiSurface,
  outlineNotices,
  readOpenapi,
  wordsOfExpressions,
} from "../../../migration/index.ts";
import { readDirectory } from "../feature-needs.ts";
import { assertNoProblems } from "./record-filters.ts";
import { print, printBlocks, printData, printError, printJson } from "../terminal.ts";

/** The flags of `impact`. */
export interface ImpactFlags {
  readonly route?: string;
  readonly field?: string;
  readonly word?: string;
  readonly pack?: string;
  /** The files of the old and the new document. */
  readonly openapi?: readonly string[];
  readonly format: ImpactFormat;
  readonly since?: string;
  readonly until?: string;
}

/** Reports flags that contradict each other or are missing. */
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

/** The exit code if the result is unknown. */
const NOT_ANSWERED = 2;

/** Prints the clients that would notice a removal. @returns the exit code */
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
  if (format === "json") printJson(notices);
  else printBlocks(outlineNotices(notices));
  return notices.clients.length + notices.readers.length > 0 ? 1 : 0;
}

/** Reads both versions of the document and compares them. */
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
 * @returns the exit code: 0 if no client is affected, 1 if a client is, 2 if this is unknown
 */
export async function impact(flags: ImpactFlags, settings: Settings, command: Command): Promise<number> {
  checkFlags(flags, command);
  try {
    return await answer(flags, settings, command);
  } catch (error) {
    if (!isOperatorError(error)) throw error;
    printError(`${error.code}: ${error.message}\n`);
    return NOT_ANSWERED;
  }
}

async function answer(flags: ImpactFlags, settings: Settings, command: Command): Promise<number> {
  const { since = "", until = "" } = flags;
  const { query: range, problems } = readUsageQuery({ since, until });
  assertNoProblems(problems, command);
  const directory = await readDirectory(settings);
  const folder = packFolder(settings.MAPPINGS_DIR);
  const { result: pack, expressions } = collectExpressions(() => loadPack(folder, settings.WORDS));
  const other = flags.pack === undefined ? undefined : loadPack(packFolder(flags.pack), settings.WORDS);
  return withClosing(async (keep) => {
    const store = keep(await openExistingAuditStore(settings), (each) => each.close());
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
  });
}
