/** The gateway's copies of v4's catalogs, whatever v4 says in place of one. */
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { loadPack } from "../../src/mapping/load.ts";
import type { Pack } from "../../src/mapping/pack.ts";
import { connectCatalogs } from "../../src/service/catalogs.ts";
import type { Catalogs } from "../../src/upstream/catalogs.ts";
import type { V4Answer, V4Call } from "../../src/upstream/client.ts";
import { UpstreamFault } from "../../src/upstream/fault.ts";

let pack: Pack;
let catalogs: Catalogs | undefined;
beforeAll(() => {
  pack = loadPack("mappings", { vm: "vm", orch: "orch" });
});
afterEach(() => catalogs?.stop());

type Say = (call: V4Call) => { readonly status?: number; readonly text: string } | Promise<never>;

const envelope = (data: readonly unknown[], pages = 1) => ({
  text: JSON.stringify({ data, page: 1, pages, results: data.length }),
});
const newark = { id: "us-east", country: "us" };

/** Copies of a v4 that says of its regions what it is told, and nothing of the others. */
function copies(say: Say) {
  const calls: V4Call[] = [];
  const faults: string[] = [];
  const call = async (asked: V4Call): Promise<V4Answer> => {
    calls.push(asked);
    const said = asked.path.startsWith("/v4/regions") ? await say(asked) : envelope([]);
    return { status: 200, headers: {}, ms: 1, ...said };
  };
  const upstream = { call, close: async () => {} };
  catalogs = connectCatalogs(pack, upstream, 600, (name, message) => faults.push(`${name}: ${message}`));
  const regions = () => calls.filter(({ path }) => path.startsWith("/v4/regions"));
  return { catalogs, calls: regions, faults };
}
const labels = () => catalogs?.list("datacenter")?.map(({ object }) => object["id"]);

describe("before the first read", () => {
  test("there is no copy, and every catalog says so", () => {
    const { catalogs } = copies(() => envelope([newark]));
    expect(catalogs.list("datacenter")).toBeUndefined();
    expect(catalogs.loaded("datacenter")).toBe(false);
    expect(catalogs.missing()).toContain("datacenter: not read yet");
  });

  test("many who want it read are served by one read (L27)", async () => {
    const { catalogs, calls } = copies(() => envelope([newark]));
    await Promise.all([catalogs.refresh(), catalogs.refresh(), catalogs.refresh()]);
    expect(calls()).toHaveLength(1);
    expect(catalogs.missing()).toEqual([]);
  });
});

describe("what is no catalog", () => {
  test.each<[string, Say]>([
    ["HTML", () => ({ text: "<html>" })],
    ["nothing", () => ({ text: "" })],
    ["null", () => ({ text: "null" })],
    ["a list without an envelope", () => ({ text: JSON.stringify([newark]) })],
    ["a 500", () => ({ status: 500, text: "" })],
    ["a 404", () => ({ status: 404, text: "{}" })],
    ["a redirect", () => ({ status: 302, text: "" })],
    ["a list behind a redirect", () => ({ ...envelope([newark]), status: 302 })],
    ["pages without an end", () => envelope([newark], Number.MAX_SAFE_INTEGER)],
    ["ten thousand levels", () => ({ text: "[".repeat(10_000) })],
    ["no connection", () => Promise.reject(new UpstreamFault("unreachable", "refused"))],
  ])("%s: not ready, with a reason, and the others are read", async (_name, say) => {
    const { catalogs, calls, faults } = copies(say);
    await catalogs.refresh();
    expect(catalogs.list("datacenter")).toBeUndefined();
    expect(catalogs.missing()).toEqual([expect.stringMatching(/^datacenter: ./)]);
    expect(faults).toHaveLength(1);
    expect(calls().length).toBeLessThanOrEqual(100);
    expect(catalogs.loaded("kernel")).toBe(true);
  });

  test("the old copy stays, and is ready", async () => {
    let broken = false;
    const { catalogs, faults } = copies(() => (broken ? { status: 500, text: "" } : envelope([newark])));
    await catalogs.refresh();
    const before = labels();
    broken = true;
    await catalogs.refresh();
    expect(faults).toHaveLength(1);
    expect(labels()).toEqual(before);
    expect(catalogs.missing()).toEqual([]);
  });

  test("half of one is none: the second page fails", async () => {
    const { catalogs } = copies(({ path }) =>
      path.includes("page=1&") ? envelope([newark], 2) : { status: 500, text: "" },
    );
    await catalogs.refresh();
    expect(catalogs.loaded("datacenter")).toBe(false);
  });
});

describe("rows", () => {
  test("that are none, or have no id, or come twice, are left out", async () => {
    const { catalogs } = copies(() =>
      envelope([
        null,
        7,
        "us-east",
        [],
        {},
        { id: 7 },
        { id: null },
        newark,
        { ...newark, country: "second" },
      ]),
    );
    await catalogs.refresh();
    expect(catalogs.find("datacenter", "us-east")?.object).toMatchObject({ country: "us" });
    expect(labels()?.filter((id) => id === "newark")).toHaveLength(1);
  });

  test.each(["__proto__", "constructor", "toString", "", "a/../b"])(
    "of the id %j change nothing but themselves",
    async (id) => {
      const { catalogs } = copies(() => ({
        text: `{"data":[{"id":${JSON.stringify(id)},"country":"x","__proto__":{"country":"y"}}],"page":1,"pages":1,"results":1}`,
      }));
      await catalogs.refresh();
      expect(catalogs.loaded("datacenter")).toBe(true);
      expect(catalogs.find("datacenter", "hasOwnProperty")).toBeUndefined();
      expect(({} as { country?: string }).country).toBeUndefined();
    },
  );
});

describe("after a failed read", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  test.each([
    ["it is tried again by itself", false, 2],
    ["it is not, once stopped", true, 1],
  ])("%s", async (_name, stop, reads) => {
    vi.useFakeTimers();
    const { catalogs, calls } = copies(() => ({ status: 500, text: "" }));
    await catalogs.refresh();
    if (stop) catalogs.stop();
    await vi.advanceTimersByTimeAsync(3000);
    expect(calls()).toHaveLength(reads);
  });

  test("stopped in mid-read, it is not tried again either", async () => {
    vi.useFakeTimers();
    const { catalogs, calls } = copies(() => ({ status: 500, text: "" }));
    const reading = catalogs.refresh();
    catalogs.stop();
    await reading;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(calls()).toHaveLength(1);
  });
});
