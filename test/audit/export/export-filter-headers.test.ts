/** Every export names the header of a filter as the side of its request does. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "@jest/globals";
import { runCommandLine } from "../../../src/app/cli/program.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { RECORDING } from "../../support/gateway.ts";
import { captureCommands } from "../../support/command-output.ts";
import { envelope, json } from "../../support/fake-v4.ts";
import {
  startGatewayWithFakeV4,
  waitFor,
  type GatewayWithFakeV4,
} from "../../support/gateway-with-fake-v4.ts";
import { startOtlpCollector, type OtlpCollector } from "../../support/otlp-collector.ts";
import { copyPack, type PackCopy } from "../../support/pack-copy.ts";

const SENT = '{"dnszone":"example.net"}';

let pack: PackCopy;
let folder: string;
let collector: OtlpCollector;
let gateway: GatewayWithFakeV4;
const printed = captureCommands();
beforeEach(async () => {
  pack = copyPack();
  let sides = 0;
  const text = readFileSync(join(pack.folder, "pack.yaml"), "utf8");
  pack.write(
    "pack.yaml",
    text.replaceAll("    header: X-Filter", () => `    header: X-Filter-${(sides += 1)}`),
  );
  folder = temporaryFolder();
  collector = await startOtlpCollector();
  gateway = await startGatewayWithFakeV4({
    ...RECORDING,
    AUDIT_OTLP: collector.url,
    DATA_DIR: folder,
    MAPPINGS_DIR: pack.folder,
  });
  gateway.v4.respondWith(json(200, envelope([]), { "x-oauth-scopes": "*" }));
  await gateway.request("GET /dns/zones", { as: "token-1234", headers: { "x-filter-1": SENT } });
});

/** The headers of filters in a HAR file: the client's request, then v4's. */
const filtersIn = (har: string): unknown[] =>
  JSON.parse(har).log.entries.map(({ request }: { request: { headers: { name: string }[] } }) =>
    request.headers.map(({ name }) => name).filter((name) => name.startsWith("X-Filter")),
  );

test("HAR of the admin API and the command line, and logs for a collector, contain the filter", async () => {
  const { text } = await gateway.requestAdmin("GET /api/audit/export?format=har");
  expect(filtersIn(text)).toEqual([["X-Filter-1"], ["X-Filter-2"]]);

  const flags = ["--format=har", `--data-dir=${folder}`, `--mappings-dir=${pack.folder}`];
  expect(await runCommandLine(["export", ...flags])).toBe(0);
  // Standard error has the progress, and the log of the gateway.
  const [har = ""] = /\{"log"[^]*\]\}\}/.exec(printed()) ?? [];
  expect(filtersIn(har)).toEqual([["X-Filter-1"], ["X-Filter-2"]]);

  await waitFor(() => collector.logs().length >= 2);
  expect(
    collector
      .logs()
      .map(({ attributes }) => Object.keys(attributes).filter((name) => name.includes("x-filter"))),
  ).toEqual([["http.request.header.x-filter-1"], ["http.request.header.x-filter-2"]]);
});
