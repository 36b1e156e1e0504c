/** The same scripts behind a proxy: bytes of one client never become a request of another. */
import { beforeAll, describe, expect, test } from "@jest/globals";
import { describeWith } from "../../support/services.ts";
import { FRONTS } from "./fronts.ts";
import { runBehind } from "./run-behind.ts";
import { SCHEMES, readScripts, type Dialect } from "./script.ts";

const scripts = readScripts();

for (const name of FRONTS) {
  const describeFront = await describeWith(name);
  describeFront(`behind ${name}`, () => {
    let all: Awaited<ReturnType<typeof runBehind>>;
    beforeAll(async () => {
      all = await runBehind(name, scripts);
    }, 180_000);

    describe.each(Object.keys(SCHEMES) as Dialect[])("in the %s dialect", (dialect) => {
      test.each(scripts.map((script) => [script.title, script] as const))("%s", (_title, script) => {
        const seen = all.get(script)?.[dialect];
        // A proxy accepts some invalid input. That is safe if the response comes back on the same connection.
        expect(seen).toMatchObject({ ambiguous: [], astray: [], othersSafe: true, garbage: 0 });
        expect(["first", "second", "third", "smuggled"]).toEqual(
          expect.arrayContaining([...(seen?.labels ?? [])]),
        );
      });
    });
  });
}
