/** Prints all output of commands. Texts come from clients, v4 and packs, so control characters are escaped. */
import { type Block, renderTerminal, toVisibleText } from "../../base/index.ts";

/** Prints a text on standard output. Characters that would act on a terminal are escaped. */
export const print = (text: string): boolean => process.stdout.write(toVisibleText(text));

/** Prints blocks on standard output. On a terminal, the width of tables is limited to its width. */
export const printBlocks = (blocks: readonly Block[]): boolean =>
  process.stdout.write(
    renderTerminal(blocks, { width: process.stdout.isTTY ? process.stdout.columns : undefined }),
  );

/** Prints a text on standard error, like {@link print}. */
export const printError = (text: string): boolean => process.stderr.write(toVisibleText(text));

/** Returns a text for a program: unchanged, unless standard output is a terminal. */
const forOutput = (text: string): string => (process.stdout.isTTY ? toVisibleText(text) : text);

/** Prints a text for a program. */
export const printData = (text: string): boolean => process.stdout.write(forOutput(text));

/** Prints a value for a program, as JSON. */
export const printJson = (value: unknown): boolean => printData(`${JSON.stringify(value, null, 2)}\n`);

/** Does the same for a stream of texts. */
export async function* eachForOutput(texts: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const text of texts) yield forOutput(text);
}

/** Moves the cursor to the top, and clears the terminal and its scroll-back. */
const CLEAR_SCREEN = "\u001B[2J\u001B[3J\u001B[H";

/** Clears the terminal of standard output, if it is one. */
export function clearScreen(): void {
  if (process.stdout.isTTY) process.stdout.write(CLEAR_SCREEN);
}

/** Writes on standard error. On a terminal, the text replaces the current line. */
export const overwriteLine = (text: string): boolean =>
  process.stderr.write(`${process.stderr.isTTY ? "\r\u001B[K" : ""}${toVisibleText(text)}`);
