/** The plan of a gateway, kept up to date: what other replicas say, and what the audit store does not. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { openClients } from "../../../src/audit/clients/open-clients.ts";
import { openSunset, type SunsetService } from "../../../src/migration/sunset/open-sunset.ts";
import type { AuditStore } from "../../../src/audit/store/store.ts";
import type { Pack } from "../../../src/pack/pack.ts";
import type { Log } from "../../../src/base/log/log.ts";
import type { Metrics } from "../../../src/base/metrics/metrics.ts";
import type { KeyValueStore } from "../../../src/base/storage/key-value-store.ts";
import { openSqliteKeyValueStore } from "../../../src/base/storage/sqlite-store.ts";
import { createControl } from "../../../src/migration/sunset/control.ts";
import { allBut } from "../../support/fake-time.ts";
import { writeOperatorFile } from "../../support/operator-file.ts";
import { waitFor } from "../../support/wait-for.ts";

let folder: string;
let state: KeyValueStore;
let sunset: SunsetService;
beforeEach(() => {
  jest.useFakeTimers({ now: new Date("2026-06-01T09:00:00Z"), doNotFake: allBut("Date") });
  folder = mkdtempSync(join(tmpdir(), "sunset-"));
  state = openSqliteKeyValueStore({ directory: folder });
});
afterEach(async () => {
  sunset.close();
  await state.close();
  rmSync(folder, { recursive: true });
  jest.useRealTimers();
});

test("a pause on another replica is read while the audit store does not answer", async () => {
  const log = { info: () => {}, warn: () => {}, error: () => {} } as unknown as Log;
  const metrics = { addGauge: () => {}, countStage: () => {} } as unknown as Metrics;
  const callsOf = jest.fn(() => new Promise<never>(() => {}));
  const file = writeOperatorFile(
    `announced: 2026-01-01\nstages: [{ brown_out: "0 10 * * *", for: 1h, from: 2026-05-01, wait_for: ["0123456789abcdef"] }]\n`,
  );
  sunset = await openSunset(
    { SUNSET_FILE: file },
    {
      pack: { routes: [], resources: new Map() } as unknown as Pack,
      clients: openClients({ CLIENTS_FILE: undefined }, log, metrics),
      state,
      audit: { decisions: { callsOf } } as unknown as AuditStore,
      replicas: () => 1,
      isAnnounced: false,
      log,
      metrics,
    },
  );
  jest.setSystemTime(new Date("2026-06-01T10:30:00Z"));
  await waitFor(() => callsOf.mock.calls.length > 0);
  await createControl(state).pause({ stage: null, by: "Ann", reason: null });
  await waitFor(() => sunset.status()?.pauses.length === 1);
  expect(callsOf).toHaveBeenCalledTimes(1);
});
