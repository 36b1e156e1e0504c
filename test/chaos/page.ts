import { ELSEWHERE, V4_FAULTS } from "./v4-faults.ts";

const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");

/** The page of faults and what comes of them, as the suite's data says. */
export const faultsPage = (): string => `# What goes wrong, and what comes of it

Written by \`npm run chaos\`, which runs every row. In each of the first table a read and a create are sent through a
broken connection; then nothing of v4 may have come through to the client, the connection works again, the gateway
answers as before by itself, and no connection is left over.

## Between the gateway and v4

${table(
  ["v4", "A read", "Tries of a read", "A create (sent once)", "Afterwards"],
  V4_FAULTS.map(({ name, read, tries, create }) => [name, read, tries, create, "200"]),
)}

"Tries" count requests on a connection: one that is refused counts none.

## Stores, processes and packs

${table(
  ["Fault", "What comes of it", "Test"],
  ELSEWHERE.map(({ fault, outcome, file }) => [fault, outcome, `\`${file}\``]),
)}
`;
