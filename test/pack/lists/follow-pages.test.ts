/** The pages of lists: a client that follows them to the end, and back, gets each item once, with true values about each page. */
import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import type { Pack } from "../../../src/pack/load/pack.ts";
import { exampleFolder, packIn } from "../../support/packs.ts";
import { followList, listPacks, listSizes } from "./follow-list.ts";

const PACKS = ["mappings", ...["cursors", "json-api", "library", "shipping", "shop"].map(exampleFolder)];

test.each(PACKS)("the lists of %s are followed to their ends", async (folder) => {
  for (const [route, pack] of listPacks(loadPack(folder)))
    await fc.assert(
      fc.asyncProperty(listSizes(pack), async ({ total, size }) => {
        expect([route, await followList(pack, total, size)]).toEqual([route, undefined]);
      }),
      { numRuns: 8 },
    );
});

// `check` reports such shapes: only a pack that is changed afterwards has them.
describe.each<["client" | "upstream"]>([["client"], ["upstream"]])(
  "a list whose shape the %s has no items in",
  (side) => {
    test("has no page", async () => {
      const pack = packIn("examples/library/pack");
      const routes = pack.routes.map((route) => {
        const { envelope } = route.lists;
        const changed = { ...envelope, [side]: { ...envelope[side], list: { rows: ["$items"] } } };
        return { ...route, lists: { ...route.lists, envelope: changed } };
      });
      const changed: Pack = { ...pack, routes };
      const [lists] = listPacks(changed).values();
      expect(lists && (await followList(lists, 3, 1))).toMatchObject({ expected: "a page" });
    });
  },
);
