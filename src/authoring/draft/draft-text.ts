/** The texts of a draft. Names and texts of documents are untrusted: each is quoted, and comments have one line. */
import { stringify } from "yaml";
import { INVISIBLE, toVisibleLine } from "../../base/index.ts";
import type { Candidate } from "./assign.ts";

/** Maximum number of characters of a comment. */
export const MAX_COMMENT = 200;

/** Writes a value as YAML on one line. */
export const inline = (value: unknown): string => toVisibleLine(JSON.stringify(value));
/** Writes a key or a text as YAML. */
export const scalar = (text: string): string =>
  stringify(text, { lineWidth: 0, defaultStringType: "PLAIN" }).trimEnd();
export const key = (text: string): string => (/^[A-Za-z_][\w.-]*$/.test(text) ? scalar(text) : inline(text));

/** Writes a text as a comment: one line, without control characters. */
const comment = (text: string): string => `# ${text.replaceAll(INVISIBLE, " ").slice(0, MAX_COMMENT)}`;

export const reasonOf = ({
  score,
  reasons,
}: Pick<Candidate<unknown, unknown>, "score" | "reasons">): string =>
  comment(`${score.toFixed(2)}: ${reasons.join(", ")}`);
