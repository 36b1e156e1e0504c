import { describe, expect, test } from "@jest/globals";
import { FAULTS, VOLATILE_FAULTS } from "../../../bench/parity/faults.ts";
import { compareNoise } from "../../../bench/parity/noisy-service.ts";
import { seedFault } from "../../../bench/parity/seeded-faults.ts";
import { createV4, readFiles } from "../../../bench/parity/services.ts";

const files = readFiles();
const v4 = createV4();

/** Each kind of mistake once; `npm run bench:parity` seeds all of them. */
const chosen = [
  ...[
    "wrong word: running",
    "lost field: nested",
    "order: by another field",
    "status of what is missing",
  ].flatMap((name) => FAULTS.filter((fault) => fault.name === name)),
  ...["time zone", "zone suffix"].flatMap((name) => VOLATILE_FAULTS.filter((fault) => fault.name === name)),
];

describe("a mistake in the pack, behind an old service that differs from itself", () => {
  test.each(chosen)("is confirmed within 300 requests: $name", async (fault) => {
    const { requests } = await seedFault(fault, files, 300, v4);
    expect(requests).toBeDefined();
  });

  test("is looked for in six ways", () => {
    expect(chosen).toHaveLength(6);
  });
});

test.each([false, true])(
  "without a mistake no answer is different, also while another program writes: %s",
  async (hasWriter) => {
    const { counts, different, trips } = await compareNoise(files, 300, hasWriter);
    expect({ different, trips }).toEqual({ different: [], trips: 0 });
    expect(counts["equal"]).toBeGreaterThan(100);
  },
);
