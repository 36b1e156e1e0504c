/**
 * V8 puts some objects among its old ones at once, which only a full garbage collection frees: a function that is
 * written where it is assigned to a property, and what belongs to a getter of a plain object. Whatever they refer to
 * stays with them, and that is often the whole request.
 */
import { expect, test } from "@jest/globals";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Made once for a process, a server or a connection, not for a request. */
const ONCE = new Set([
  "app/create-gateway.ts get adminUrl",
  "app/create-gateway.ts get url",
  "app/invalid-messages.ts server.emit",
  "pipeline/http/receive-body.ts get bytes",
  "upstream/watched-connection.ts socket.push",
]);

/** A member of a class stands two spaces deep, one of a plain object in a function at least four. */
const GETTER = /^ {4,}(get \w+)\(\)/gm;
const ASSIGNED_FUNCTION = /(\w+\.\w+) (?:\?\?)?= (?:async )?(?:\([^()]*\)(?::[^=]+)? =>|\w+ =>|function\b)/g;

const files = ["app", "pipeline", "upstream", "dialect"].flatMap((folder) =>
  readdirSync(join("src", folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => `${folder}/${name}`),
);

/** What a source has of both kinds. */
const oldObjects = (source: string): string[] =>
  [GETTER, ASSIGNED_FUNCTION].flatMap((kind) => [...source.matchAll(kind)].map(([, found = ""]) => found));

test("both kinds are found", () => {
  expect(oldObjects("  return {\n    get size() {\n")).toEqual(["get size"]);
  expect(oldObjects("exchange.cancel = () => {")).toEqual(["exchange.cancel"]);
  expect(oldObjects("class Walk {\n  get size() {\n  #end = () => {};\n")).toEqual([]);
});

test("no request has one", () => {
  const found = files.flatMap((file) =>
    oldObjects(readFileSync(join("src", file), "utf8")).map((each) => `${file} ${each}`),
  );
  expect(found.filter((each) => !ONCE.has(each))).toEqual([]);
});
