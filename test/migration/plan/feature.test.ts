/** The plan of a gateway, kept up to date: what other replicas say, and what the audit store does not. */
import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { CLIENTS } from "../../../src/audit/feature/feature.ts";
import { PLAN } from "../../../src/migration/plan/feature.ts";
import type { PlanParts } from "../../../src/migration/plan/plan-parts.ts";
import type { AuditStore } from "../../../src/audit/store/store.ts";
import type { Pack } from "../../../src/pack/load/pack.ts";
import type { Log } from "../../../src/base/log/log.ts";
import { NO_METRICS } from "../../../src/base/metrics/no-metrics.ts";
import { openFeature, type OpenFeature } from "../../../src/base/features/open-feature.ts";
import { readSettings } from "../../../src/base/settings/settings.ts";
import type { KeyValueStore } from "../../../src/base/storage/key-value-store.ts";
import { openSqliteKeyValueStore } from "../../../src/gateway/state/sqlite-store.ts";
import { createControl } from "../../../src/migration/plan/control.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { allBut } from "../../support/fake-time.ts";
import { writeOperatorFile } from "../../support/operator-file.ts";
import { waitFor } from "../../support/wait-for.ts";

let folder: string;
let state: KeyValueStore;
let sunset: OpenFeature<PlanParts | undefined>;
beforeEach(() => {
  jest.useFakeTimers({ now: new Date("2026-06-01T09:00:00Z"), doNotFake: allBut("Date") });
  folder = temporaryFolder();
  state = openSqliteKeyValueStore({ directory: folder });
});
afterEach(async () => {
  await sunset.close();
  await state.close();
  jest.useRealTimers();
});

test("a pause on another replica is read while the audit store does not answer", async () => {
  const log = { info: () => {}, warn: () => {}, error: () => {} } as unknown as Log;
  const callsOf = jest.fn(() => new Promise<never>(() => {}));
  const file = writeOperatorFile(
    `announced: 2026-01-01\nstages: [{ brown_out: "0 10 * * *", for: 1h, from: 2026-05-01, wait_for: ["0123456789abcdef"] }]\n`,
  );
  const settings = readSettings({ SUNSET_FILE: file });
  const process = { log, metrics: NO_METRICS, isReadOnly: false };
  const { parts: clients } = await openFeature(CLIENTS, settings, undefined, process);
  const needs = {
    pack: { routes: [], resources: new Map() } as unknown as Pack,
    clients,
    state,
    audit: { decisions: { callsOf } } as unknown as AuditStore,
    replicas: () => 1,
    isAnnounced: false,
  };
  sunset = await openFeature(PLAN, settings, needs, process);
  jest.setSystemTime(new Date("2026-06-01T10:30:00Z"));
  await waitFor(() => callsOf.mock.calls.length > 0);
  await createControl(state).pause({ stage: null, by: "Ann", reason: null });
  await waitFor(() => sunset.parts?.status().pauses.length === 1);
  expect(callsOf).toHaveBeenCalledTimes(1);
});
