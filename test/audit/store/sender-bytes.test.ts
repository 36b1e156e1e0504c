/** Whose records go first in a store that is full. */
import { expect, test } from "@jest/globals";
import { RecentBytes, StoredShares } from "../../../src/audit/store/sender-bytes.ts";

/** The owners that lose a unit of bytes each, one after the other. */
function cutsOf(bytes: Record<string, number>, count: number): string[] {
  const shares = new StoredShares();
  for (const [owner, own] of Object.entries(bytes)) shares.add({ owner, isBare: true }, own);
  return Array.from({ length: count }, () => {
    const cut = shares.next();
    if (cut) shares.add(cut, -1);
    return cut?.owner ?? "none";
  });
}

test("all tokens of a network are one client, of which the small ones lose first while they have most", () => {
  const flood = { "one@192.0.2.1": 4, "two@192.0.2.1": 3, "<1/256@192.0.2.1": 8 };
  expect(cutsOf({ ...flood, honest: 9 }, 3)).toEqual([
    "<1/256@192.0.2.1",
    "one@192.0.2.1",
    "<1/256@192.0.2.1",
  ]);
});

test("a token is one client, however many networks it has", () => {
  const flood = { "one@192.0.2.1": 3, "one@192.0.2.2": 4, "one@192.0.2.3": 3, one: 2 };
  expect(cutsOf({ ...flood, honest: 9 }, 4)).toEqual([
    "one@192.0.2.2",
    "one@192.0.2.1",
    "one@192.0.2.2",
    "one@192.0.2.3",
  ]);
});

test("several clients count as a quarter of their bytes, unless they have most of the store", () => {
  expect(cutsOf({ "<1/256": 50, honest: 50 }, 1)).toEqual(["honest"]);
  expect(cutsOf({ "<1/256": 51, honest: 49 }, 1)).toEqual(["<1/256"]);
  expect(cutsOf({ "": 4, honest: 2, other: 2 }, 1)).toEqual(["honest"]);
});

test("tokens and networks with a quarter of the recent bytes have segments of their own", () => {
  const row = (client: string | null, network: string, size: number) => ({ client, network, size });
  const rows = [
    row("large", "192.0.2.1", 40),
    ...Array.from({ length: 50 }, (_, n) => row(`small-${n}`, "192.0.2.2", 1)),
    row("quiet", "192.0.2.3", 10),
    row(null, "", 50),
  ];
  const recent = new RecentBytes();
  recent.add(rows);
  expect([...new Set(rows.map((each) => recent.ownerOf(each)))]).toEqual([
    "large@192.0.2.1",
    "<1/16@192.0.2.2",
    "",
  ]);
});
