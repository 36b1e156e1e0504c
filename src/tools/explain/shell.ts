/** Words for a shell (bash, zsh, ksh), whatever they hold. */

/** Controls would act on the terminal that shows them; the others rearrange what a reader sees around them. */
const UNSEEN = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

const isUnseen = (text: string): boolean => text.search(UNSEEN) >= 0;

const bytes = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");

/** One word of a command line that stands for just this text. */
export function shellQuote(text: string): string {
  if (!isUnseen(text)) return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  return `$'${text.replaceAll(/['\\]/g, String.raw`\$&`).replaceAll(UNSEEN, bytes)}'`;
}

/** A line of explanation among commands: nothing in it ends the line. */
export const shellComment = (text: string): string => `# ${text.replaceAll(UNSEEN, " ")}`;
