/** What `impact` is asked. */
import type { Command } from "commander";
import type { ImpactFormat } from "../../../migration/index.ts";

/** The flags of `impact`. */
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

/** Reports what no flag can mean. */
export function checkFlags(
  { route, field, word, pack, openapi, format }: ImpactFlags,
  command: Command,
): void {
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
