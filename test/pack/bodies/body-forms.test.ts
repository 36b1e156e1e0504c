/** How a body is normalized before it is checked, with the reference pack's edit of a configuration. */
import { expect, test } from "@jest/globals";
import { packIn } from "../../support/packs.ts";

const rules = packIn("mappings").resources.get("config")?.bodies.get("edit");
if (!rules) throw new Error("the body is gone");

const normal = (disks: unknown) => rules.normalise({ disks }).body["disks"];
const fields = (disks: unknown) => rules.check(rules.normalise({ disks }).body).map(({ field }) => field);

test.each([
  ["another spelling", { xvda: 5 }, { sda: 5 }],
  ["a whole object under another spelling", { xvda: { id: 5 } }, { sda: 5 }],
  ["null under another spelling, where null is a value", { xvda: null }, { sda: null }],
  ["the documented spelling before another", { sda: 5, xvda: 6 }, { sda: 5 }],
  ["another spelling before null", { sda: null, xvda: 6 }, { sda: 6 }],
])("%s is accepted", (_what, sent, read) => expect(normal(sent)).toEqual(read));

test.each([
  [{ sda: 5, xvdb: 6 }, []],
  [{ sdi: 5 }, ["disks.sdi"]],
  [{ sdi: null, sdz: 5, sda: "x" }, ["disks.sdi", "disks.sdz", "disks.sda"]],
  [{ ["__proto__x"]: 1 }, ["disks.__proto__x"]],
])("the unknown members of %j in a closed object are reported", (sent, reported) =>
  expect(fields(sent)).toEqual(reported),
);
