import { DatabaseError } from "pg";
import { AuditUnavailable } from "../store.ts";
import { NewerSchema } from "./schema.ts";

/** What SQLSTATE classes (PostgreSQL, appendix A) mean to whoever runs the gateway; the longest prefix counts. */
const MEANINGS: Readonly<Record<string, string>> = {
  "25006": "its database may not be written",
  "28": "its database refuses the user or the password",
  "3D": "there is no such database",
  "42501": "its user may not do this in the database",
  "53": "its database is short of resources",
  "53100": "the disk of its database is full",
  "53300": "its database takes no more connections",
  "57014": "its database is too slow",
  "57": "its database does not answer",
  XX: "its database is damaged",
};

/** What an error of the driver means: in words that everybody may read, with the error itself as cause. */
export function toUnavailableError(error: unknown): AuditUnavailable {
  if (error instanceof AuditUnavailable) return error;
  return new AuditUnavailable(`The audit store failed: ${meaningOf(error)}.`, { cause: error });
}

function meaningOf(error: unknown): string {
  if (error instanceof NewerSchema) return "its database was written by a newer version of the gateway";
  // What is no answer of the server is about the way to it.
  if (!(error instanceof DatabaseError)) return "its database does not answer";
  const code = error.code ?? "";
  const prefix = Object.keys(MEANINGS)
    .filter((start) => code.startsWith(start))
    .toSorted((one, other) => other.length - one.length)[0];
  return prefix === undefined ? `its database fails (SQLSTATE ${code})` : (MEANINGS[prefix] ?? "");
}
