import { beforeEach, describe, expect, test } from "@jest/globals";
import {
  errorFields,
  items,
  createTestSandbox,
  type SandboxResponse,
  type Json,
  type TestSandbox,
} from "./sandbox-service.ts";

let v4: TestSandbox;
let cluster: string;
beforeEach(async () => {
  v4 = createTestSandbox();
  const response = await v4.ask("POST /orch/clusters", wanted);
  cluster = `/orch/clusters/${response.body.id}`;
});

const wanted = {
  label: "prod",
  region: "us-east",
  k8s_version: "1.22",
  node_pools: [{ type: "g6-standard-2", count: 2 }],
};
const addPool = (change: Json = {}): Promise<SandboxResponse> =>
  v4.ask(`POST ${cluster}/pools`, { type: "g6-standard-1", count: 2, ...change });

interface Node {
  readonly id: string;
  readonly instance_id: string | null;
  readonly status: string;
}

async function nodesOf(path: string): Promise<Node[]> {
  return (await v4.read(`GET ${path}`)).nodes as Node[];
}

describe("V-143 clusters", () => {
  test("are created with their instances, listed, read and updated", async () => {
    expect(await v4.read(`GET ${cluster}`)).toMatchObject({
      label: "prod",
      k8s_version: "1.22",
      control_plane: { high_availability: false },
    });
    expect(await v4.list("/orch/clusters")).toHaveLength(1);
    expect((await v4.read(`PUT ${cluster}`, { label: "two" })).label).toBe("two");
    expect((await v4.read("GET /vm/instances")).results).toBe(62);
  });

  test("V-144 are updated to the next minor version, and to high availability permanently", async () => {
    for (const version of ["1.24", "1.21", "2.0"]) {
      expect(await v4.faults(`PUT ${cluster}`, { k8s_version: version })).toEqual(["k8s_version"]);
    }
    expect((await v4.read(`PUT ${cluster}`, { k8s_version: "1.23" })).k8s_version).toBe("1.23");
    const highly = (on: boolean): Promise<SandboxResponse> =>
      v4.ask(`PUT ${cluster}`, { control_plane: { high_availability: on } });
    expect((await highly(true)).status).toBe(200);
    expect(errorFields(await highly(false))).toEqual(["control_plane.high_availability"]);
  });

  test("V-145 have a dashboard", async () => {
    expect(await v4.read(`GET ${cluster}/dashboard`)).toEqual({ url: expect.stringMatching(/^https:/) });
  });

  test("report all errors together", async () => {
    const body = { region: "none", k8s_version: "9.9", node_pools: [{ type: "none", count: 101 }] };
    const refused = await v4.ask("POST /orch/clusters", body);
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
    expect(body.nodes).toEqual(
      [0, 1].map(() => ({ id: expect.any(String), instance_id: null, status: "not_ready" })),
    );
    expect(await v4.list(`${cluster}/pools`)).toHaveLength(2);
    expect(await v4.status("GET /orch/clusters/1/pools")).toBe(404);
    expect(await v4.faults(`POST ${cluster}/pools`)).toEqual(["type", "count"]);
  });

  test("V-053 V-079 their nodes become ready, each an instance of the type", async () => {
    const { body } = await addPool();
    v4.clock.advance(60_000);
    for (const node of await nodesOf(`${cluster}/pools/${body.id}`)) {
      expect(node.status).toBe("ready");
      const instance = await v4.read(`GET /vm/instances/${node.instance_id}`);
      expect(instance).toMatchObject({ type: "g6-standard-1", status: "running", region: "us-east" });
    }
  });

  test("V-049 are filtered by id, and by no other field", async () => {
    const { body } = await addPool();
    const found = await v4.request(`GET ${cluster}/pools`, { filter: { id: body.id } });
    expect(items(found)).toHaveLength(1);
    expect((await v4.request(`GET ${cluster}/pools`, { filter: { count: 2 } })).status).toBe(400);
  });

  test("V-133 are found only in their own cluster", async () => {
    const { body } = await addPool();
    const other = await v4.ask("POST /orch/clusters", { ...wanted, label: "other" });
    expect(await v4.status(`GET ${cluster}/pools/${body.id}`)).toBe(200);
    const elsewhere = `/orch/clusters/${other.body.id}/pools/${body.id}`;
    expect(await v4.status(`GET ${elsewhere}`)).toBe(404);
    expect(await v4.status(`GET ${cluster}/pools/1`)).toBe(404);
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
    expect(status === 200 ? response.body.disks : errorFields(response)).toEqual(
      status === 200 ? disks : named,
    );
  });

  test("V-056 V-134 keep their layout on every PUT", async () => {
    const { body } = await addPool({ disks: [disk(1000)] });
    const path = `${cluster}/pools/${body.id}`;
    const changed = await v4.ask(`PUT ${path}`, { count: 3, disks: [disk(5)], type: "g6-standard-8" });
    expect(changed.body).toMatchObject({ count: 3, disks: [disk(1000)], type: "g6-standard-1" });
  });

  test("V-135 replace nodes one by one when the count changes", async () => {
    const { body } = await addPool();
    const path = `${cluster}/pools/${body.id}`;
    v4.clock.advance(60_000);
    const before = (await nodesOf(path)).map(({ id }) => id);
    await v4.ask(`PUT ${path}`, { count: 3 });
    const between = (await nodesOf(path)).map(({ id }) => id);
    expect(between).toEqual(expect.arrayContaining(before));
    expect(between.length).toBe(5);
    v4.clock.advance(5000);
    expect(await nodesOf(path)).toHaveLength(4);
    v4.clock.advance(60_000);
    const after = await nodesOf(path);
    expect(after).toHaveLength(3);
    expect(after.every(({ id, status }) => status === "ready" && !before.includes(id))).toBe(true);
    expect((await v4.read("GET /vm/instances")).results).toBe(65);
  });

  test("V-136 delete their instances when they are deleted", async () => {
    const { body } = await addPool();
    const path = `${cluster}/pools/${body.id}`;
    v4.clock.advance(60_000);
    const nodes = await nodesOf(path);
    expect(await v4.read(`DELETE ${path}`)).toEqual({});
    expect(await v4.status(`GET ${path}`)).toBe(404);
    for (const node of nodes) expect(await v4.status(`GET /vm/instances/${node.instance_id}`)).toBe(404);
  });

  test("V-146 are recycled, as is a node", async () => {
    const { body } = await addPool();
    const path = `${cluster}/pools/${body.id}`;
    v4.clock.advance(60_000);
    const [first, second] = await nodesOf(path);
    expect(await v4.read(`POST ${cluster}/nodes/${first?.id}/recycle`)).toEqual({});
    v4.clock.advance(60_000);
    const ids = (await nodesOf(path)).map(({ id }) => id);
    expect(ids).toContain(second?.id);
    expect(ids).not.toContain(first?.id);
    expect(await v4.read(`POST ${path}/recycle`)).toEqual({});
    v4.clock.advance(60_000);
    expect((await nodesOf(path)).map(({ id }) => id)).not.toEqual(expect.arrayContaining(ids));
    expect(await nodesOf(path)).toHaveLength(2);
  });
});

test.each(["g6-nanode-1", "g1-gpu-rtx6000-1"])("V-168 nodes of type %s are rejected", async (type) => {
  expect(errorFields(await addPool({ type }))).toEqual(["type"]);
  const body = { ...wanted, node_pools: [{ type, count: 1 }] };
  expect(await v4.faults("POST /orch/clusters", body)).toEqual(["node_pools[0].type"]);
});

test("V-167 an outstanding balance prevents creating and enlarging", async () => {
  expect(await v4.as("other").status("POST /orch/clusters", wanted)).toBe(400);
  expect(await v4.as("other").list("/orch/clusters")).toEqual([]);
  await v4.as("other").ask("POST /account/payments", { usd: "25.50" });
  const response = await v4.as("other").ask("POST /orch/clusters", wanted);
  const path = `/orch/clusters/${response.body.id}/pools`;
  const [pool] = await v4.as("other").list(path);
  const state = v4.sandbox.save();
  const owing = structuredClone(state) as unknown as {
    tables: { account: { rows: { value: { balance: number } }[] } };
  };
  for (const { value } of owing.tables.account.rows) value.balance = 10;
  v4.sandbox.restore(owing);
  const one = `${path}/${pool?.id}`;
  expect(await v4.as("other").status(`POST ${path}`, { type: "g6-standard-1", count: 1 })).toBe(400);
  expect(await v4.as("other").status(`PUT ${one}`, { count: 3 })).toBe(400);
  expect((await v4.as("other").read(`GET ${one}`)).count).toBe(2);
  expect(await v4.as("other").status(`PUT ${one}`, { count: 1 })).toBe(200);
});
