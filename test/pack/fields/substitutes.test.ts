/** Substitutes of objects that a catalog does not have. */
import { expect, test } from "@jest/globals";
import { cursorAt } from "../../../src/base/json/scan.ts";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { NO_CATALOGS } from "../../../src/pack/translation-context.ts";
import { writeSmallPack } from "../../support/small-pack.ts";

test("a substitute is kept for rows without a member, also after a row that has it", async () => {
  const folder = writeSmallPack({
    book: {
      fields: { id: "id", sequel: { upstream: "next", catalog: "book" } },
      catalog: { upstream: [{ request: "GET /items" }], stub: '{ "id": $id, "kind": kind }' },
    },
  });
  const [route] = loadPack(folder).routes;
  // A substitute that is created needs a look-up more.
  const translate = async (row: object) => {
    let lookUps = 0;
    const find = (): undefined => void (lookUps += 1);
    const text = await route?.read(cursorAt(JSON.stringify(row)), {
      catalogs: { ...NO_CATALOGS, find },
      calls: {},
    });
    return [text, lookUps];
  };
  const [plain, kind] = [
    { id: 1, next: "a" },
    { id: 1, next: "b", kind: "k" },
  ];
  expect(await translate(plain)).toEqual(['{"id":1,"sequel":{"id":"a"}}', 2]);
  expect(await translate(kind)).toEqual(['{"id":1,"sequel":{"id":"b","kind":"k"}}', 2]);
  for (const _ of [1, 2]) expect(await translate(plain)).toEqual(['{"id":1,"sequel":{"id":"a"}}', 1]);
  expect(await translate({ ...plain, kind: "k" })).toEqual(['{"id":1,"sequel":{"id":"a","kind":"k"}}', 2]);
});
