/** The operator learns that the state store fills up before it is full. */
import { expect, test } from "@jest/globals";
import { watchFullness } from "../../../src/gateway/state/state-fullness.ts";
import type { Fullness } from "../../../src/base/storage/key-value-store.ts";

test("a part that is 80 % full is logged once, until there is room again; a full one makes sign-ins a problem", async () => {
  let fullness: Fullness = { application: 0.79, personal: 0, rest: 0 };
  let gauge = (): number => NaN;
  const lines: unknown[] = [];
  const { problems, close } = watchFullness(
    { fullness: async () => fullness },
    {
      log: { warn: (line: unknown) => lines.push(line) } as never,
      metrics: { addGauge: (_name, _help, read) => (gauge = read) },
    },
  );
  async function becomes(changed: Partial<Fullness>): Promise<readonly string[]> {
    fullness = { ...fullness, ...changed };
    return problems();
  }
  expect([await becomes({}), lines]).toEqual([[], []]);
  expect([await becomes({ application: 0.8 }), await becomes({ application: 0.9 }), gauge()]).toEqual([
    [],
    [],
    0.9,
  ]);
  expect(lines).toEqual([{ code: "AG_STATE_STORE_FILLS", part: "tokens of sign-ins", percent: 80 }]);
  expect(await becomes({ application: 1 })).toEqual(["the state store is full: sign-ins fail"]);
  await becomes({ application: 0.5 });
  // Everybody else is served.
  expect(await becomes({ application: 0.85, personal: 1 })).toEqual([]);
  expect(lines).toHaveLength(3);
  close();
});
