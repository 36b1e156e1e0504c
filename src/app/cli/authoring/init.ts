import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import { FILE_KINDS, fileSchema } from "../../../pack/index.ts";
import {
  editorFiles,
  exampleSchema,
  type NewFile,
  newPackFiles,
  type NewPackOptions,
} from "../../../authoring/index.ts";
import { check } from "./check.ts";
import { shellQuote, shellWord } from "../../../compare/index.ts";
import type { DraftFlags } from "./draft-pack.ts";
import { print } from "../terminal.ts";

/** The flags of `init`. Questions about the others are asked at a terminal, unless there are two documents. */
export type InitFlags = Partial<Record<QuestionName, string>> & DraftFlags;

/** Lengths of a name and of a path, in characters, and the number of fields: the files of a pack have limits, too. */
const [MAX_NAME, MAX_PATH, MAX_FIELDS] = [60, 200, 100];

const OBJECT = /^[a-z][a-z0-9_]*$/;
const PATH = /^(?:\/[\w.-]+)+$/;
const NAME = /^[A-Za-z_]\w*$/;
/** Files of a pack that are no objects. */
const OTHER_FILES = ["pack", "surface"];

const isPath = (text: string): boolean =>
  text.length <= MAX_PATH &&
  PATH.test(text) &&
  !text.split("/").some((part) => part === "." || part === "..");

const isFieldName = (text: string): boolean =>
  text.length <= MAX_NAME && NAME.test(text) && text !== "__proto__";

function areFields(text: string): boolean {
  const pairs = text.split(",").map((field) => field.split("="));
  const clientNames = new Set(pairs.map(([name]) => name));
  return (
    pairs.length <= MAX_FIELDS &&
    clientNames.size === pairs.length &&
    pairs.every((names) => names.length <= 2 && names.every(isFieldName))
  );
}

interface Question {
  readonly text: string;
  readonly default: string;
  readonly isValid: (text: string) => boolean;
  /** What the input must be. */
  readonly rule: string;
}

/** The questions, with their defaults. */
const QUESTIONS = {
  object: {
    text: "What is one object called?",
    default: "book",
    isValid: (text) => text.length <= MAX_NAME && OBJECT.test(text) && !OTHER_FILES.includes(text),
    rule: `up to ${MAX_NAME} lower-case letters, digits and _, and not ${OTHER_FILES.join(" or ")}`,
  },
  clientPath: {
    text: "Which path of the old API has the list?",
    default: "/v1/books",
    isValid: isPath,
    rule: "a path, such as /v1/books",
  },
  upstreamPath: {
    text: "Which path of the new API has the list?",
    default: "/api/items",
    isValid: isPath,
    rule: "a path, such as /api/items",
  },
  scheme: {
    text: "Which scheme does the Authorization header have? none: no tokens",
    default: "Bearer",
    isValid: (text) => text.length <= MAX_NAME && /^[A-Za-z][A-Za-z0-9-]*$/.test(text),
    rule: "a letter, then letters, digits and hyphens, such as Bearer",
  },
  fields: {
    text: "Which fields? old=new, separated by commas",
    default: "id,title=name",
    isValid: areFields,
    rule: `up to ${MAX_FIELDS} different names, such as id,title=name`,
  },
} as const satisfies Record<string, Question>;

type QuestionName = keyof typeof QUESTIONS;
type Answers = Partial<Record<QuestionName, string>>;

const isValid = (name: QuestionName, input: string): boolean => QUESTIONS[name].isValid(input);

/**
 * Asks for each value that no flag gave. Without a terminal, the defaults are used.
 *
 * @returns undefined if the input ends before the last question (Ctrl+C, Ctrl+D)
 */
async function ask(flags: Answers): Promise<Record<QuestionName, string> | undefined> {
  const options = Object.fromEntries(
    Object.entries(QUESTIONS).map(([name, question]) => [name, question.default as string]),
  ) as Record<QuestionName, string>;
  Object.assign(options, flags);
  const open = (Object.keys(QUESTIONS) as QuestionName[]).filter((name) => flags[name] === undefined);
  if (!process.stdin.isTTY || open.length === 0) return options;
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  // An iterator keeps lines that are pasted together; a question would lose all but the first.
  const lines = terminal[Symbol.asyncIterator]();
  try {
    for (const name of open) {
      const { text, rule, default: proposal } = QUESTIONS[name];
      for (;;) {
        terminal.setPrompt(`${text} [${proposal}] `);
        terminal.prompt();
        const line = await lines.next();
        if (line.done) return undefined;
        const input = line.value.trim().replaceAll(", ", ",");
        if (input === "") break;
        options[name] = input;
        if (isValid(name, input)) break;
        print(`Use ${rule}.\n`);
      }
    }
  } finally {
    terminal.close();
  }
  return options;
}

function toOptions({ fields, ...options }: Record<QuestionName, string>): NewPackOptions {
  const pairs = fields.split(",").map((field): [string, string] => {
    const [client = "", upstream = client] = field.split("=");
    return [client, upstream];
  });
  return { ...options, fields: new Map(pairs) };
}

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
    if (!name.includes("schema.json")) print(`wrote ${path}\n`);
  }
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
