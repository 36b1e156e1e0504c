/** Paths of links: what a client wrote can't end a link or name a host. */
import { expect, test } from "@jest/globals";
import { linkPath } from "../../../src/pack/lists/links.ts";

test.each([
  ["/books/a%20b;v=1/@me:x", "/books/a%20b;v=1/@me:x"],
  ["//evil.example/books", "/evil.example/books"],
  ["/\\evil.example", "/evil.example"],
  ['/u/a>;rel="next",<evil', "/u/a%3E;rel=%22next%22,%3Cevil"],
  ["/a\\b\r\n", "/a%5Cb%0D%0A"],
  ["/\u00e9\ud800", "/%C3%A9%EF%BF%BD"],
])("the path %j is %j in a link", (path, expected) => {
  expect(linkPath(path)).toBe(expected);
});
