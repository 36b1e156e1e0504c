/**
 * Invalid, pipelined and ambiguous requests: the gateway's responses on a raw connection, and the requests that v4
 * receives. The scripts are data. Each one runs here and behind proxies.
 */
import { beforeAll, describe, expect, test } from "@jest/globals";
import { RECORDING } from "../../support/gateway.ts";
import {
  startListeningGatewayWithFakeV4,
  type ListeningGatewayWithFakeV4,
} from "../../support/gateway-with-fake-v4.ts";
import { runScript } from "./run-script.ts";
import { SCHEMES, readScripts, type Dialect } from "./script.ts";
import { SETTINGS } from "./settings.ts";

/** Settings under which Express and its middleware read more of a request. */
const PLACES = {
  "on its own": SETTINGS,
  "behind a trusted proxy, with browser clients": {
    ...SETTINGS,
    TRUST_PROXY: "127.0.0.1",
    CORS_ORIGINS: "https://app.example.org",
  },
} as const;

describe.each(Object.entries(PLACES))("a gateway %s", (_place, settings) => {
  let gateway: ListeningGatewayWithFakeV4;
  beforeAll(async () => {
    gateway = await startListeningGatewayWithFakeV4({ ...RECORDING, ...settings });
  });

  describe.each(Object.keys(SCHEMES) as Dialect[])("in the %s dialect", (dialect) => {
    test.each(readScripts().map((script) => [script.title, script] as const))(
      "%s",
      async (_title, script) => {
        const expected = script.expected[dialect];
        const door = { gateway, address: gateway.url };
        const garbage = gateway.v4.countMalformedRequests();
        const { statuses, closes, v4, labels, ...safe } = await runScript(script, dialect, door, expected);
        expect({ statuses, closes }).toEqual({
          statuses: expected.statuses,
          closes: expected.closes,
        });
        // A request that breaks off within its body may have been forwarded or not.
        expect(expected.v4).toEqual(expect.arrayContaining([...v4]));
        expect(expected.v4).toEqual(expect.arrayContaining([...labels]));
        expect(safe).toEqual({ foreign: [], ambiguous: [], astray: [], inStep: true, othersSafe: true });
        expect(gateway.v4.countMalformedRequests()).toBe(garbage);
      },
    );
  });
});
