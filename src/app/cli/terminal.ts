/** All output of the commands. A terminal obeys control characters, and texts come from clients, v4 and packs. */
import { type Block, renderTerminal, toVisibleText } from "../../base/index.ts";

/** Prints a text on standard output. Characters that would act on a terminal are escaped. */
export const print = (text: string): boolean => process.stdout.write(toVisibleText(text));

/** Prints blocks on standard output. On a terminal, tables are as wide as it. */
export const printBlocks = (blocks: readonly Block[]): boolean =>
  process.stdout.write(
    renderTerminal(blocks, { width: process.stdout.isTTY ? process.stdout.columns : undefined }),
  );

/** Prints a text on standard error, as {@link print} does. */
export const printError = (text: string): boolean => process.stderr.write(toVisibleText(text));

/** A text for a program: as it is, unless standard output is a terminal. */
const forOutput = (text: string): string => (process.stdout.isTTY ? toVisibleText(text) : text);

/** Prints a text for a program. */
export const printData = (text: string): boolean => process.stdout.write(forOutput(text));

/** Prints a value for a program, as JSON. */
export const printJson = (value: unknown): boolean => printData(`${JSON.stringify(value, null, 2)}\n`);

/** The same for the texts of a stream to standard output. */
export async function* eachForOutput(texts: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const text of texts) yield forOutput(text);
}

/** Moves the cursor of a terminal to the top, and clears it with the text that was scrolled out. */
const CLEAR_SCREEN = "\u001B[2J\u001B[3J\u001B[H";

/** Clears the terminal of standard output, if it is one. */
export function clearScreen(): void {
  if (process.stdout.isTTY) process.stdout.write(CLEAR_SCREEN);
}

/** Writes on standard error, over the line of the cursor if it is a terminal. */
export const overwriteLine = (text: string): boolean =>
  process.stderr.write(`${process.stderr.isTTY ? "\r\u001B[K" : ""}${toVisibleText(text)}`);
