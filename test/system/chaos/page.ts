import { ELSEWHERE } from "./elsewhere.ts";
import { STORE_FAULTS } from "./store-faults.ts";
import { V4_FAULTS } from "./v4-faults.ts";

const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");

/** The page of faults and what comes of them, as the suite's data says. */
export const faultsPage = (): string => `# What goes wrong, and what comes of it

Written by \`npm run chaos\`, which runs every row but those whose test stands in another folder: \`npm run test:all\` runs all.
Whatever breaks works again in the end, and the gateway answers as before by itself, without a restart, and with no
connection left over.

## Between the gateway and v4

A read and a create are sent through a broken connection. Nothing of v4's words or addresses comes through to the client.

${table(
  ["v4", "A read", "Tries of a read", "A create (sent once)", "Afterwards"],
  V4_FAULTS.map(({ name, read, tries, create }) => [name, read, tries, create, "200"]),
)}

"Tries" count requests on a connection: one that is refused counts none.

## Between the gateway and its stores

While requests come without a pause. What was answered under \`AUDIT_DURABILITY=relaxed\` waits in memory, and is in the
database afterwards; what \`strict\` refused is counted in \`alpha_gateway_audit_dropped_total\`.

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

A sign-in that begins is answered 302. Without Redis each process holds its share of the limits.

## Disks, clocks, names, processes and packs

${table(
  ["Fault", "What comes of it", "Test"],
  ELSEWHERE.map(({ fault, outcome, file }) => [fault, outcome, `\`${file}\``]),
)}
`;
