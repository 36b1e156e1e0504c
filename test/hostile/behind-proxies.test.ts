/** The same scripts with what stands before a gateway in production: nobody's bytes become somebody else's request. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { beforeFake, type Pair } from "../support/before-fake.ts";
import { describeWith } from "../support/services.ts";
import { FRONTS, startFront, type Front } from "./fronts.ts";
import { runScript } from "./run-script.ts";
import { LANES, readScripts, type Lane } from "./script.ts";
import { SETTINGS } from "./settings.ts";

const scripts = readScripts();

for (const name of FRONTS) {
  const describeFront = await describeWith(name);
  describeFront(`behind ${name}`, () => {
    let gateway: Pair;
    let front: Front;
    beforeAll(async () => {
      gateway = await beforeFake(SETTINGS);
      front = await startFront(name, gateway.service.url);
    });
    afterAll(async () => {
      await front.stop();
      await gateway.stop();
    });

    describe.each(Object.keys(LANES) as Lane[])("in the %s lane", (lane) => {
      test.each(scripts.map((script) => [script.title, script] as const))("%s", async (_title, script) => {
        const garbage = gateway.v4.garbage();
        const seen = await runScript(script, lane, { gateway, address: front.address });
        // A proxy reads some things more kindly. What it takes for a request is one, if its answer comes back here.
        expect(seen).toMatchObject({ ambiguous: [], astray: [], othersSafe: true });
        expect(["first", "second", "third", "smuggled"]).toEqual(expect.arrayContaining([...seen.told]));
        expect(gateway.v4.garbage()).toBe(garbage);
      });
    });
  });
}
