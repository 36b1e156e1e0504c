/** No statement of the gateway reads an unbounded set of rows: the store of a busy gateway has millions. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { parse } from "yaml";

/** The bounds of statements, and what the text of a statement with this bound has. */
const BOUNDS: Readonly<Record<string, RegExp>> = {
  /** So many rows at most. */
  limit: /\bLIMIT\b|\$\{served\(/,
  /** One row, made of others inside of the database. Where many are summed, it is for the console or for deleting. */
  one: /^SELECT (?:EXISTS|count|sum|min|max|coalesce)\b(?!.*GROUP BY)/,
  /** The rows of one client, token, route, record or segment, or of those that are given. */
  keys: /= (?:\?|:|\$\d)|= \(SELECT max\(|BETWEEN|seq >= \$\d AND seq < \$\d|(?:LIST|NUMBERS)\(\$|json_each|\$\{(?:condition|key)\}/,
  /** The rows that are given: those of one commit. */
  given: /^(?:INSERT|WITH given)/,
  /** Deletes what is older than a day, and returns nothing. */
  old: /^DELETE FROM (?:\w+|\$\{name\}) WHERE \w+ < [?$](?!.*RETURNING)/,
  /** Changes rows inside of the database, when a client is erased, and returns none. */
  changed: /^(?:UPDATE|DELETE) (?!.*RETURNING)/,
  /** A row for each day: `USAGE_RETENTION_DAYS`. */
  days: /GROUP BY day/,
  /** A row for each client with segments of its own. */
  owners: /GROUP BY owner, bare$/,
  /** The one row of a table with the version. */
  version: /\$\{versionTable\}$/,
  /** Stands in other statements, and is bounded there. */
  part: /^(?:SELECT|UPDATE SET)/,
};

/** Statements, and what follows the columns of one that stands beside them. */
const STATEMENT =
  /(["`'])\s*((?:\$\{\w+\}\s(?:WHERE|\$\{where\})|WITH|SELECT|INSERT|UPDATE|DELETE)\s(?:(?!\1)[\s\S])*)\1/g;
const NAME_LENGTH = 90;

const nameOf = (text: string): string => text.slice(0, NAME_LENGTH).trim();

/** The statements of a file, with one blank for any white space. */
const statementsOf = (file: string): readonly string[] =>
  [...readFileSync(join("src", file), "utf8").matchAll(STATEMENT)]
    .map(([, , text = ""]) => text.replaceAll(/\s+/g, " ").trim())
    .filter((text) => /\b(?:FROM|INTO|SET|WHERE|LIMIT)\b/.test(text));

const listed = parse(readFileSync("test/architecture/statements.yaml", "utf8")) as Readonly<
  Record<string, readonly Readonly<Record<string, string>>[]>
>;
const found = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && statementsOf(file).length > 0)
  .sort();

test("the list names each statement of each file", () => {
  const names = found.map((file) => [file, statementsOf(file).map(nameOf)]);
  const inList = Object.entries(listed).map(([file, statements]) => [
    file,
    statements.flatMap(Object.values),
  ]);
  expect(Object.fromEntries(inList)).toEqual(Object.fromEntries(names));
});

test("each statement has the bound that the list gives it", () => {
  const unbounded = found.flatMap((file) => {
    const bounds = (listed[file] ?? []).flatMap(Object.keys);
    return statementsOf(file).filter((text, index) => !BOUNDS[bounds[index] ?? ""]?.test(text));
  });
  expect(unbounded).toEqual([]);
});
