import type { SqliteSchema } from "../../storage/schema.ts";

/** Counts of requests. The records are in the tables of their days, which are created with the days (`partition.ts`). */
const VERSION_1 = `
  CREATE TABLE usage (
    day TEXT NOT NULL,
    client TEXT NOT NULL,
    lane TEXT NOT NULL,
    route TEXT NOT NULL,
    status INTEGER NOT NULL,
    requests INTEGER NOT NULL,
    lossy INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    sample TEXT NOT NULL,
    agent TEXT,
    PRIMARY KEY (day, client, lane, route, status)
  ) STRICT, WITHOUT ROWID;
`;

/** "agau" in ASCII. `storage/schema.ts` says how a step is added. */
export const SCHEMA: SqliteSchema = { applicationId: 0x61676175, steps: [VERSION_1] };
