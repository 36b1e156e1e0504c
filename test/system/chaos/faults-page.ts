import { STORE_FAULTS } from "./store-faults.ts";
import { V4_FAULTS } from "./v4-faults.ts";

const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((row) => `|${row.join("|")}|`).join("\n");

/** The page of faults and their effects, from the data of the suites. */
export const faultsPage = (): string => `# Faults and their effects

Written by \`npm run chaos\`. \`npm run test:all\` runs all tests. After each fault the gateway recovers without a restart, and leaves no
connection open.

## Between the gateway and v4

A read and a create (sent once) go through a broken connection. The client sees no text and no address of v4. The next request gets 200.

${table(
  ["v4", "A read", "Tries of a read", "A create"],
  V4_FAULTS.map(({ name, read, tries, create }) => [name, read, tries, create]),
)}

## Between the gateway and its stores

With \`AUDIT_DURABILITY=relaxed\`, records wait in memory and are in the database afterwards.

${table(
  [
    "Redis, PostgreSQL",
    "Redis: a request",
    "a sign-in",
    "`/readyz`",
    "PostgreSQL, relaxed: a request",
    "strict",
    "`/readyz`",
  ],
  STORE_FAULTS.map(({ name, redis, postgres }) => [
    name,
    redis.request,
    redis.signIn,
    redis.ready,
    postgres.relaxed,
    postgres.strict,
    postgres.ready,
  ]),
)}

Without Redis each process enforces its share of the limits.

## Disks, clocks, names, processes and packs

[faults.tsv](faults.tsv) has a row for each, with its effect and its test.
`;
