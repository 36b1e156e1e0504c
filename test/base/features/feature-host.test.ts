/** What a feature gets from a gateway that serves, and from a command that only looks. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { z } from "zod";
import { commandProcess, type FeatureProcess } from "../../../src/base/features/feature-host.ts";
import { openFeature } from "../../../src/base/features/open-feature.ts";
import type { Log } from "../../../src/base/log/log.ts";
import { NO_METRICS } from "../../../src/base/metrics/no-metrics.ts";
import { readSettings } from "../../../src/base/settings/settings.ts";
import { allBut } from "../../support/fake-time.ts";
import { writeOperatorFile } from "../../support/operator-file.ts";

const SCHEMA = z.object({});
const TEXT = { code: "AG_TEST", begins: "it can't be read", ends: "it can be read again" } as const;

let lines: string[];
let gateway: FeatureProcess;
beforeEach(() => {
  jest.useFakeTimers({ doNotFake: allBut("setInterval", "clearInterval") });
  lines = [];
  const write = (_context: object, message: string): void => void lines.push(message);
  const log = { info: write, error: write } as unknown as Log;
  gateway = { log, metrics: NO_METRICS, isReadOnly: false };
});
afterEach(() => {
  jest.useRealTimers();
});

interface Repeated {
  now(): Promise<void>;
  close?(): void;
}

/** Opens a feature that does something each second. */
const openRepeated = (process: FeatureProcess, run: () => Promise<unknown>, text?: typeof TEXT) =>
  openFeature(
    {
      name: "test",
      setting: "CLIENTS_FILE",
      open: (_settings, _needs: unknown, { repeat }): Repeated => ({ now: repeat(1000, run, text) }),
    },
    readSettings({}),
    undefined,
    process,
  );

describe("what is repeated", () => {
  test("fails with one line of the log, and one that it is over", async () => {
    let isDown = true;
    const run = async (): Promise<void> => {
      if (isDown) throw new Error("down");
    };
    const { parts, close } = await openRepeated(gateway, run, TEXT);
    await parts.now();
    await parts.now();
    expect(lines).toEqual([TEXT.begins]);
    isDown = false;
    await parts.now();
    await parts.now();
    expect(lines).toEqual([TEXT.begins, TEXT.ends]);
    await close();
  });

  test("runs once at a time, and not after it is closed", async () => {
    let end = (): void => {};
    let runs = 0;
    const { close } = await openRepeated(gateway, () => {
      runs += 1;
      return new Promise<void>((resolve) => (end = resolve));
    });
    jest.advanceTimersByTime(3000);
    expect(runs).toBe(1);
    end();
    await nextTurn();
    jest.advanceTimersByTime(1000);
    expect(runs).toBe(2);
    end();
    await nextTurn();
    await close();
    jest.advanceTimersByTime(3000);
    expect(runs).toBe(2);
  });

  test("is done once by a command, which says what went wrong", async () => {
    let runs = 0;
    const { parts } = await openRepeated(
      commandProcess(),
      async () => {
        runs += 1;
        throw new Error("down");
      },
      TEXT,
    );
    jest.advanceTimersByTime(3000);
    expect(runs).toBe(0);
    await expect(parts.now()).rejects.toThrow("down");
  });
});

test("a feature that can't be opened leaves nothing running", async () => {
  let runs = 0;
  const opening = openFeature(
    {
      name: "test",
      setting: "CLIENTS_FILE",
      open(_settings, _needs: unknown, { readFile, repeat }): object {
        repeat(1000, async () => (runs += 1));
        const kind = { schema: SCHEMA, compile: () => ({}) };
        readFile("CLIENTS_FILE", writeOperatorFile("not: [valid", "clients.yaml"), kind);
        return {};
      },
    },
    readSettings({}),
    undefined,
    gateway,
  );
  await expect(opening).rejects.toThrow("AG_FILE_SYNTAX");
  jest.advanceTimersByTime(3000);
  expect(runs).toBe(0);
});
