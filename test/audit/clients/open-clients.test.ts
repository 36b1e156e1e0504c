/** The client directory and a file that names its clients: which of them comes into force, and what the log says. */
import { writeFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { openClients, type ClientsService } from "../../../src/audit/clients/open-clients.ts";
import { watchOperatorFile, type WatchedFile } from "../../../src/base/files/watched-file.ts";
import type { Log } from "../../../src/base/log/log.ts";
import { rolloutFile } from "../../../src/migration/rollout/rollout-file.ts";
import type { RolloutPlan } from "../../../src/migration/rollout/rollout-plan.ts";
import { writeOperatorFile } from "../../support/operator-file.ts";

const waves = (name: string): string => `data: shared\nwaves: { first: [${name}] }\n`;
const NO_WAVES = "data: shared\n";

let errors: object[];
let clientsFile: string;
let namingFile: string;
let clients: ClientsService;
let naming: WatchedFile<RolloutPlan>;
beforeEach(() => {
  errors = [];
  const log = {
    info: () => {},
    error: (context: object, message: string) => errors.push({ ...context, message }),
  } as unknown as Log;
  const metrics = { addGauge: () => {} };
  clientsFile = writeOperatorFile("billing: {}\n", "clients.yaml");
  namingFile = writeOperatorFile(waves("billing"), "rollout.yaml");
  clients = openClients({ CLIENTS_FILE: clientsFile }, log, metrics);
  naming = watchOperatorFile(
    namingFile,
    rolloutFile(() => ({ routes: [], directory: clients.candidate() })),
    { setting: "ROLLOUT_FILE", gauge: "gauge", join: clients.join, log, metrics },
  );
});
afterEach(() => {
  naming.close();
  clients.close();
});

const inForce = () => ({
  directory: clients.current().clients.map(({ name }) => name),
  named: naming.current().waves.get("first"),
});

test("a directory that another file does not fit stays as it was, and one line says what to do", () => {
  writeFileSync(clientsFile, "invoices: {}\n");
  clients.reload();
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
    writeFileSync(namingFile, waves("invoices"));
    (reloaded === "directory" ? clients : naming).reload();
    expect(inForce()).toEqual({ directory: ["invoices"], named: ["invoices"] });
    expect(errors).toEqual([]);
  },
);

test("a directory that is invalid itself leaves the other file alone", () => {
  writeFileSync(clientsFile, "billing: {}\nreports: { owns: nothing }\n");
  writeFileSync(namingFile, NO_WAVES);
  naming.reload();
  expect(inForce()).toEqual({ directory: ["billing"], named: undefined });
  expect(errors).toEqual([expect.objectContaining({ setting: "CLIENTS_FILE" })]);
});

test("a faulty file leaves a directory in force that has not changed", () => {
  writeFileSync(namingFile, waves("reports"));
  naming.reload();
  expect(inForce()).toEqual({ directory: ["billing"], named: ["billing"] });
  writeFileSync(namingFile, NO_WAVES);
  clients.reload();
  expect(inForce()).toEqual({ directory: ["billing"], named: undefined });
});
