/** Objects of the upstream without some of the members that fields read. */
import { expect, test } from "@jest/globals";
import { cursorAt } from "../../../src/base/json/scan.ts";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { NO_CATALOGS } from "../../../src/pack/translation-context.ts";
import { writeSmallPack } from "../../support/small-pack.ts";

test("an object without members is complete, also after one whose members start far behind", async () => {
  const folder = writeSmallPack({
    book: { fields: { id: "id", title: "title", author: "author", year: "year" } },
  });
  const [route] = loadPack(folder).routes;
  const translate = (row: object) =>
    route?.read(cursorAt(JSON.stringify(row)), { catalogs: NO_CATALOGS, calls: {} });
  const far = { title: "x".repeat(40_000), id: 1, author: "a", year: 1 };
  expect(await translate(far)).toBe(`{"id":1,"title":"${far.title}","author":"a","year":1}`);
  const title = "y".repeat(100_000);
  expect(await translate({ title })).toBe(`{"id":null,"title":"${title}","author":null,"year":null}`);
});
