/** The client directory and a file that names its clients: which of them comes into force, and what the log says. */
import { writeFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { CLIENTS, type ClientsParts } from "../../../src/audit/feature/feature.ts";
import { openFeature, type OpenFeature } from "../../../src/base/features/open-feature.ts";
import { NO_METRICS } from "../../../src/base/metrics/no-metrics.ts";
import { readSettings } from "../../../src/base/settings/settings.ts";
import { watchOperatorFile, type WatchedFile } from "../../../src/base/files/watched-file.ts";
import type { Log } from "../../../src/base/log/log.ts";
import { rolloutFile } from "../../../src/migration/rollout/file.ts";
import type { RolloutConfig } from "../../../src/migration/rollout/rules.ts";
import { writeOperatorFile } from "../../support/operator-file.ts";

const rules = (name: string): string => `data: shared\nnew: [{ clients: [${name}] }]\n`;
const NO_WAVES = "data: shared\n";

let errors: object[];
let clientsFile: string;
let namingFile: string;
let clients: OpenFeature<ClientsParts>;
let naming: WatchedFile<RolloutConfig>;
beforeEach(async () => {
  errors = [];
  const log = {
    info: () => {},
    error: (context: object, message: string) => errors.push({ ...context, message }),
  } as unknown as Log;
  clientsFile = writeOperatorFile("billing: {}\n", "clients.yaml");
  namingFile = writeOperatorFile(rules("billing"), "rollout.yaml");
  const settings = readSettings({ CLIENTS_FILE: clientsFile });
  clients = await openFeature(CLIENTS, settings, undefined, { log, metrics: NO_METRICS, isReadOnly: false });
  naming = watchOperatorFile(
    namingFile,
    rolloutFile(() => ({ routes: [], directory: clients.parts.candidate() })),
    { setting: "ROLLOUT_FILE", join: clients.parts.join, log, metrics: NO_METRICS },
  );
});
afterEach(async () => {
  naming.close();
  await clients.close();
});

const inForce = () => ({
  directory: clients.parts.current().clients.map(({ name }) => name),
  named: [...(naming.current().rules[0]?.clients?.keys() ?? [])],
});

test("a directory that is not YAML is rejected, and the line names the command that says why", () => {
  writeFileSync(clientsFile, "billing: [");
  clients.parts.reload();
  expect(inForce().directory).toEqual(["billing"]);
  expect(errors).toMatchObject([
    { faults: [expect.stringContaining(`alpha-gateway check --clients ${clientsFile}`)] },
  ]);
});

test("a directory that another file does not fit stays as it was, and one line says what to do", () => {
  writeFileSync(clientsFile, "invoices: {}\n");
  clients.parts.reload();
  expect(inForce()).toEqual({ directory: ["billing"], named: ["billing"] });
  expect(errors).toEqual([
    {
      code: "AG_FILE_REJECTED",
      setting: "ROLLOUT_FILE",
      faults: [expect.stringContaining("AG_ROLLOUT_UNKNOWN_CLIENT")],
      message: expect.stringMatching(
        /^CLIENTS_FILE has changed, .* Undo the change, or change this file too\./,
      ),
    },
  ]);
});

test.each([["directory"], ["other file"]])(
  "both come into force once both are changed, whichever is read again: the %s",
  (reloaded) => {
    writeFileSync(clientsFile, "invoices: {}\n");
    writeFileSync(namingFile, rules("invoices"));
    (reloaded === "directory" ? clients.parts : naming).reload();
    expect(inForce()).toEqual({ directory: ["invoices"], named: ["invoices"] });
    expect(errors).toEqual([]);
  },
);

test("a directory that is invalid itself leaves the other file alone", () => {
  writeFileSync(clientsFile, "billing: {}\nreports: { owns: nothing }\n");
  writeFileSync(namingFile, NO_WAVES);
  naming.reload();
  expect(inForce()).toEqual({ directory: ["billing"], named: [] });
  expect(errors).toEqual([expect.objectContaining({ setting: "CLIENTS_FILE" })]);
});

test("a faulty file leaves a directory in force that has not changed", () => {
  writeFileSync(namingFile, rules("reports"));
  naming.reload();
  expect(inForce()).toEqual({ directory: ["billing"], named: ["billing"] });
  writeFileSync(namingFile, NO_WAVES);
  clients.parts.reload();
  expect(inForce()).toEqual({ directory: ["billing"], named: [] });
});
