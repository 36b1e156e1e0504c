/** The questions of `init` for a small pack, at a terminal or by flags. */
import { createInterface } from "node:readline/promises";
import { print } from "../terminal.ts";

/**
 * Maximum lengths of a name and of a path, in characters, and the maximum number of fields, because the files of a
 * pack have limits.
 */
const [MAX_NAME, MAX_PATH, MAX_FIELDS] = [60, 200, 100];

const OBJECT = /^[a-z][a-z0-9_]*$/;
const PATH = /^(?:\/[\w.-]+)+$/;
const NAME = /^[A-Za-z_]\w*$/;
/** Names of files of a pack that do not describe an object. */
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
  /** A description of valid input. */
  readonly rule: string;
}

/** The questions, with their defaults. */
export const QUESTIONS = {
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
    rule: `up to ${MAX_FIELDS} different names of letters, digits and _, such as id,title=name`,
  },
} as const satisfies Record<string, Question>;

export type QuestionName = keyof typeof QUESTIONS;
type Answers = Partial<Record<QuestionName, string>>;

export const isValid = (name: QuestionName, input: string): boolean => QUESTIONS[name].isValid(input);

/**
 * Asks for each value without a flag. If there is no terminal, the defaults are used.
 *
 * @returns undefined if the input ends before the last question (Ctrl+C, Ctrl+D)
 */
export async function ask(flags: Answers): Promise<Record<QuestionName, string> | undefined> {
  const options = Object.fromEntries(
    Object.entries(QUESTIONS).map(([name, question]) => [name, question.default as string]),
  ) as Record<QuestionName, string>;
  Object.assign(options, flags);
  const open = (Object.keys(QUESTIONS) as QuestionName[]).filter((name) => flags[name] === undefined);
  if (!process.stdin.isTTY || open.length === 0) return options;
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  // An iterator keeps lines that are pasted together. `question()` would lose all but the first.
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
