/** Recorded requests with several calls are replayed: polls, calls for many ids, and calls with values of answers. */
import { expect, test } from "@jest/globals";
import type { AuditRecord } from "../../../src/audit/record/record.ts";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { Replay } from "../../../src/compare/replay/replay-record.ts";
import { exampleRecords } from "../../authoring/explain/example-records.ts";

const FOLDER = "examples/shipping/pack";
const pack = loadPack(FOLDER);
/** The golden cases of the routes that make several calls. */
const records = (await exampleRecords(FOLDER, pack)).filter(([, { alpha }]) =>
  /^\/(?:parcels|deliveries|labels|docks\/list|customers\/\d|bookings\/\d+\/extend)/.test(alpha.path),
);

const isPolledByHeader = ({ v4 }: AuditRecord): boolean =>
  v4.some(({ method, path, status }) => `${method} ${path} ${status}` === "POST /prints 202");

test.each(records.filter(([, record]) => !isPolledByHeader(record)))(
  "the replay of a record has the same result: %s",
  async (_title, record) => {
    expect(await new Replay(pack).run(record)).toMatchObject({ kind: "same" });
  },
);

test.each(records.filter(([, record]) => isPolledByHeader(record)))(
  "it is not known which operation was polled if its id was in a header: %s",
  async (_title, record) => {
    expect(await new Replay(pack).run(record)).toEqual({
      kind: "inconclusive",
      reason: "the result was polled by headers of responses, which are not recorded",
    });
  },
);
