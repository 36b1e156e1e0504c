import { beforeEach, describe, expect, test } from "@jest/globals";
import type { SandboxResponse, SandboxRequest, Json, TestSandbox } from "./sandbox-service.ts";
import { errorFields, items, createTestSandbox } from "./sandbox-service.ts";

let service: TestSandbox;
let cluster: string;
beforeEach(async () => {
  service = createTestSandbox();
  const response = await ask("POST /orch/clusters", wanted);
  cluster = `/orch/clusters/${String(response.body["id"])}`;
});

const ask = (request: string, body?: Json, as: SandboxRequest["as"] = "full"): Promise<SandboxResponse> =>
  service.request(request, { as, ...(body && { body }) });
const wanted = {
  label: "prod",
  region: "us-east",
  k8s_version: "1.22",
  node_pools: [{ type: "g6-standard-2", count: 2 }],
};
const addPool = (change: Json = {}): Promise<SandboxResponse> =>
  ask(`POST ${cluster}/pools`, { type: "g6-standard-1", count: 2, ...change });

interface Node {
  readonly id: string;
  readonly instance_id: string | null;
  readonly status: string;
}

async function nodesOf(path: string): Promise<Node[]> {
  return (await ask(`GET ${path}`)).body["nodes"] as Node[];
}

describe("V-143 clusters", () => {
  test("are created with their instances, listed, read and updated", async () => {
    expect((await ask(`GET ${cluster}`)).body).toMatchObject({
      label: "prod",
      k8s_version: "1.22",
      control_plane: { high_availability: false },
    });
    expect(items(await ask("GET /orch/clusters"))).toHaveLength(1);
    expect((await ask(`PUT ${cluster}`, { label: "two" })).body["label"]).toBe("two");
    expect((await ask("GET /vm/instances")).body["results"]).toBe(62);
  });

  test("V-144 are updated to the next minor version, and to high availability permanently", async () => {
    for (const version of ["1.24", "1.21", "2.0"]) {
      expect(errorFields(await ask(`PUT ${cluster}`, { k8s_version: version }))).toEqual(["k8s_version"]);
    }
    expect((await ask(`PUT ${cluster}`, { k8s_version: "1.23" })).body["k8s_version"]).toBe("1.23");
    const highly = (on: boolean): Promise<SandboxResponse> =>
      ask(`PUT ${cluster}`, { control_plane: { high_availability: on } });
    expect((await highly(true)).status).toBe(200);
    expect(errorFields(await highly(false))).toEqual(["control_plane.high_availability"]);
  });

  test("V-145 have a dashboard", async () => {
    expect((await ask(`GET ${cluster}/dashboard`)).body).toEqual({ url: expect.stringMatching(/^https:/) });
  });

  test("report all errors together", async () => {
    const body = { region: "none", k8s_version: "9.9", node_pools: [{ type: "none", count: 101 }] };
    const refused = await ask("POST /orch/clusters", body);
    expect(errorFields(refused)).toEqual([
      "label",
      "node_pools[0].count",
      "region",
      "k8s_version",
      "node_pools[0].type",
    ]);
  });
});

describe("node pools", () => {
  test("V-048 V-050 V-053 V-057 V-131 V-132 are created, listed and read", async () => {
    const { status, body } = await addPool();
    expect(status).toBe(200);
    expect(body).toMatchObject({ id: expect.any(Number), type: "g6-standard-1", count: 2, disks: [] });
    expect(body["nodes"]).toEqual(
      [0, 1].map(() => ({ id: expect.any(String), instance_id: null, status: "not_ready" })),
    );
    expect(items(await ask(`GET ${cluster}/pools`))).toHaveLength(2);
    expect((await ask("GET /orch/clusters/1/pools")).status).toBe(404);
    expect(errorFields(await ask(`POST ${cluster}/pools`, {}))).toEqual(["type", "count"]);
  });

  test("V-053 V-079 their nodes become ready, each an instance of the type", async () => {
    const { body } = await addPool();
    service.clock.advance(60_000);
    for (const node of await nodesOf(`${cluster}/pools/${String(body["id"])}`)) {
      expect(node.status).toBe("ready");
      const instance = (await ask(`GET /vm/instances/${node.instance_id}`)).body;
      expect(instance).toMatchObject({ type: "g6-standard-1", status: "running", region: "us-east" });
    }
  });

  test("V-049 are filtered by id, and by no other field", async () => {
    const { body } = await addPool();
    const found = await service.request(`GET ${cluster}/pools`, { filter: { id: body["id"] } });
    expect(items(found)).toHaveLength(1);
    expect((await service.request(`GET ${cluster}/pools`, { filter: { count: 2 } })).status).toBe(400);
  });

  test("V-133 are found only in their own cluster", async () => {
    const { body } = await addPool();
    const other = await ask("POST /orch/clusters", { ...wanted, label: "other" });
    expect((await ask(`GET ${cluster}/pools/${String(body["id"])}`)).status).toBe(200);
    const elsewhere = `/orch/clusters/${String(other.body["id"])}/pools/${String(body["id"])}`;
    expect((await ask(`GET ${elsewhere}`)).status).toBe(404);
    expect((await ask(`GET ${cluster}/pools/1`)).status).toBe(404);
  });

  const disk = (size: number, type = "ext4"): Json => ({ size, type });

  test.each([
    ["V-051", [disk(1000), disk(1000, "raw")], 200, []],
    ["V-051", [disk(1000, "xfs")], 400, ["disks[0].type"]],
    ["V-052", [disk(51_200)], 200, []],
    ["V-052", [disk(51_201)], 400, ["disks[0].size"]],
    ["V-054", [disk(26_000), disk(26_000)], 400, ["disks"]],
    ["V-055", Array.from({ length: 7 }, () => disk(1000)), 200, []],
    ["V-055", Array.from({ length: 8 }, () => disk(1000)), 400, ["disks"]],
  ])("%s the layout %j is %i", async (_id, disks, status, named) => {
    const response = await addPool({ disks });
    expect(response.status).toBe(status);
    expect(status === 200 ? response.body["disks"] : errorFields(response)).toEqual(
      status === 200 ? disks : named,
    );
  });

  test("V-056 V-134 keep their layout on every PUT", async () => {
    const { body } = await addPool({ disks: [disk(1000)] });
    const path = `${cluster}/pools/${String(body["id"])}`;
    const changed = await ask(`PUT ${path}`, { count: 3, disks: [disk(5)], type: "g6-standard-8" });
    expect(changed.body).toMatchObject({ count: 3, disks: [disk(1000)], type: "g6-standard-1" });
  });

  test("V-135 replace nodes one by one when the count changes", async () => {
    const { body } = await addPool();
    const path = `${cluster}/pools/${String(body["id"])}`;
    service.clock.advance(60_000);
    const before = (await nodesOf(path)).map(({ id }) => id);
    await ask(`PUT ${path}`, { count: 3 });
    const between = (await nodesOf(path)).map(({ id }) => id);
    expect(between).toEqual(expect.arrayContaining(before));
    expect(between.length).toBe(5);
    service.clock.advance(5000);
    expect(await nodesOf(path)).toHaveLength(4);
    service.clock.advance(60_000);
    const after = await nodesOf(path);
    expect(after).toHaveLength(3);
    expect(after.every(({ id, status }) => status === "ready" && !before.includes(id))).toBe(true);
    expect((await ask("GET /vm/instances")).body["results"]).toBe(65);
  });

  test("V-136 delete their instances when they are deleted", async () => {
    const { body } = await addPool();
    const path = `${cluster}/pools/${String(body["id"])}`;
    service.clock.advance(60_000);
    const nodes = await nodesOf(path);
    expect((await ask(`DELETE ${path}`)).body).toEqual({});
    expect((await ask(`GET ${path}`)).status).toBe(404);
    for (const node of nodes) expect((await ask(`GET /vm/instances/${node.instance_id}`)).status).toBe(404);
  });

  test("V-146 are recycled, as is a node", async () => {
    const { body } = await addPool();
    const path = `${cluster}/pools/${String(body["id"])}`;
    service.clock.advance(60_000);
    const [first, second] = await nodesOf(path);
    expect((await ask(`POST ${cluster}/nodes/${first?.id}/recycle`)).body).toEqual({});
    service.clock.advance(60_000);
    const ids = (await nodesOf(path)).map(({ id }) => id);
    expect(ids).toContain(second?.id);
    expect(ids).not.toContain(first?.id);
    expect((await ask(`POST ${path}/recycle`)).body).toEqual({});
    service.clock.advance(60_000);
    expect((await nodesOf(path)).map(({ id }) => id)).not.toEqual(expect.arrayContaining(ids));
    expect(await nodesOf(path)).toHaveLength(2);
  });
});

test.each(["g6-nanode-1", "g1-gpu-rtx6000-1"])("V-168 nodes of type %s are rejected", async (type) => {
  expect(errorFields(await addPool({ type }))).toEqual(["type"]);
  const body = { ...wanted, node_pools: [{ type, count: 1 }] };
  expect(errorFields(await ask("POST /orch/clusters", body))).toEqual(["node_pools[0].type"]);
});

test("V-167 an outstanding balance prevents creating and enlarging", async () => {
  expect((await ask("POST /orch/clusters", wanted, "other")).status).toBe(400);
  expect(items(await ask("GET /orch/clusters", undefined, "other"))).toEqual([]);
  await ask("POST /account/payments", { usd: "25.50" }, "other");
  const response = await ask("POST /orch/clusters", wanted, "other");
  const path = `/orch/clusters/${String(response.body["id"])}/pools`;
  const [pool] = items(await ask(`GET ${path}`, undefined, "other"));
  const state = service.sandbox.save();
  const owing = structuredClone(state) as unknown as {
    tables: { account: { rows: { value: { balance: number } }[] } };
  };
  for (const { value } of owing.tables.account.rows) value.balance = 10;
  service.sandbox.restore(owing);
  const one = `${path}/${String(pool?.["id"])}`;
  expect((await ask(`POST ${path}`, { type: "g6-standard-1", count: 1 }, "other")).status).toBe(400);
  expect((await ask(`PUT ${one}`, { count: 3 }, "other")).status).toBe(400);
  expect((await ask(`GET ${one}`, undefined, "other")).body["count"]).toBe(2);
  expect((await ask(`PUT ${one}`, { count: 1 }, "other")).status).toBe(200);
});
