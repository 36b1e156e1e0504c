import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Command } from "commander";
import { lines } from "../../../base/index.ts";
import { FILE_KINDS, fileSchema } from "../../../pack/index.ts";
import {
  editorFiles,
  exampleSchema,
  type NewFile,
  newPackFiles,
  type NewPackOptions,
} from "../../../authoring/index.ts";
import { check } from "./check/check.ts";
import { shellQuote, shellWord } from "../../../compare/index.ts";
import type { DraftFlags } from "./draft-pack.ts";
import { ask, isValid, type QuestionName, QUESTIONS } from "./init-questions.ts";
import { print, printBlocks } from "../terminal.ts";

/** The flags of `init`. Questions about the others are asked at a terminal, unless there are two documents. */
export type InitFlags = Partial<Record<QuestionName, string>> & DraftFlags;

/** The pack that the answers describe. */
function toOptions({ fields, ...options }: Record<QuestionName, string>): NewPackOptions {
  const pairs = fields.split(",").map((field): [string, string] => {
    const [client = "", upstream = client] = field.split("=");
    return [client, upstream];
  });
  return { ...options, fields: new Map(pairs) };
}

/** `clientPath` → `--client-path`. */
const flagOf = (name: string): string =>
  `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** The JSON Schemas of the files of a pack, by kind. */
const fileSchemas = (): Record<string, unknown> => ({
  ...Object.fromEntries(FILE_KINDS.map((kind) => [kind, fileSchema(kind)])),
  example: exampleSchema(),
});

/** Writes files, and prints the names of those that people edit. */
function writeFiles(folder: string, files: readonly NewFile[]): void {
  for (const [name, text] of files) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  const edited = files.filter(([name]) => !name.includes("schema.json"));
  printBlocks(lines(...edited.map(([name]) => `wrote ${join(folder, name)}`)));
  print("\n");
}

/** Writes a draft from two documents, and checks it. @returns the exit code */
async function initFromDocuments(
  folder: string,
  { old, new: now, from }: DraftFlags,
  others: readonly string[],
  command: Command,
): Promise<number> {
  if (old === undefined || now === undefined)
    return command.error("error: --old and --new belong together: the OpenAPI documents of both APIs");
  if (others.length > 0)
    return command.error(`error: ${flagOf(others[0] ?? "")} is for a pack without documents: leave it out`);
  const { draftPack } = await import("./draft-pack.ts");
  const files = await draftPack({ old, new: now, from }, command);
  writeFiles(folder, [...files, ...editorFiles(fileSchemas())]);
  return check(folder, {});
}

/**
 * Runs `alpha-gateway init`: writes a small pack, and checks it.
 *
 * @returns the exit code
 */
export async function init(
  folder: string,
  { old, new: now, from, ...flags }: InitFlags,
  command: Command,
): Promise<number> {
  if (existsSync(folder) && readdirSync(folder).length > 0)
    return command.error(`error: ${folder} is not empty. Name a folder that does not exist yet.`);
  if (old !== undefined || now !== undefined || from !== undefined)
    return initFromDocuments(folder, { old, new: now, from }, Object.keys(flags), command);
  for (const [name, value] of Object.entries(flags) as [QuestionName, string][])
    if (!isValid(name, value))
      return command.error(`error: ${flagOf(name)} "${value}": use ${QUESTIONS[name].rule}`);
  const values = await ask(flags);
  if (!values) return command.error("\nerror: the input ended before the last question; nothing was written");
  const options = toOptions(values);
  writeFiles(folder, [...newPackFiles(options, shellWord(folder)), ...editorFiles(fileSchemas())]);
  const code = await check(folder, {});
  print(
    `\nNext: npx alpha-gateway explain --mappings-dir ${shellWord(folder)} ${shellQuote(`GET ${options.clientPath}`)}\n`,
  );
  return code;
}
