/** The same scripts with what stands before a gateway in production: nobody's bytes become somebody else's request. */
import { beforeAll, describe, expect, test } from "vitest";
import { describeWith } from "../../support/services.ts";
import { FRONTS } from "./fronts.ts";
import { runBehind } from "./run-behind.ts";
import { SCHEMES, readScripts, type Scheme } from "./script.ts";

const scripts = readScripts();

for (const name of FRONTS) {
  const describeFront = await describeWith(name);
  describeFront(`behind ${name}`, () => {
    let all: Awaited<ReturnType<typeof runBehind>>;
    beforeAll(async () => {
      all = await runBehind(name, scripts);
    }, 180_000);

    describe.each(Object.keys(SCHEMES) as Scheme[])("in the %s dialect", (lane) => {
      test.each(scripts.map((script) => [script.title, script] as const))("%s", (_title, script) => {
        const seen = all.get(script)?.[lane];
        // A proxy reads some things more kindly. What it takes for a request is one, if its response comes back here.
        expect(seen).toMatchObject({ ambiguous: [], astray: [], othersSafe: true, garbage: 0 });
        expect(["first", "second", "third", "smuggled"]).toEqual(
          expect.arrayContaining([...(seen?.told ?? [])]),
        );
      });
    });
  });
}
