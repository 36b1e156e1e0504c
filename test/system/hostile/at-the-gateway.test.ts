/**
 * Requests that are none, or two, or read differently by the next in line: what the gateway answers on the bare
 * connection, and what v4 sees of it. The scripts are data; one that is added is run here, and behind proxies.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  startListeningGatewayWithFakeV4,
  type ListeningGatewayWithFakeV4,
} from "../../support/gateway-with-fake-v4.ts";
import { runScript } from "./run-script.ts";
import { SCHEMES, readScripts, type Scheme } from "./script.ts";
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
    gateway = await startListeningGatewayWithFakeV4(settings);
  });
  afterAll(() => gateway.stop());

  describe.each(Object.keys(SCHEMES) as Scheme[])("in the %s dialect", (lane) => {
    test.each(readScripts().map((script) => [script.title, script] as const))(
      "%s",
      async (_title, script) => {
        const expected = script.expected[lane];
        const door = { gateway, address: gateway.url };
        const garbage = gateway.v4.countMalformedRequests();
        const {
          answers: responses,
          closes,
          v4,
          told: reported,
          ...safe
        } = await runScript(script, lane, door, expected);
        expect({ answers: responses, closes }).toEqual({
          answers: expected.answers,
          closes: expected.closes,
        });
        // What breaks off in its body may have gone on its way or not.
        expect(expected.v4).toEqual(expect.arrayContaining([...v4]));
        expect(expected.v4).toEqual(expect.arrayContaining([...reported]));
        expect(safe).toEqual({ foreign: [], ambiguous: [], astray: [], inStep: true, othersSafe: true });
        expect(gateway.v4.countMalformedRequests()).toBe(garbage);
      },
    );
  });
});
