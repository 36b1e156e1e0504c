import { describe, expect, test } from "@jest/globals";
import {
  createTestSandbox,
  errorFields,
  items,
  sandboxForEachTest,
  type SandboxResponse,
  type SandboxRequest,
  type Json,
} from "./sandbox-service.ts";

const v4 = sandboxForEachTest();

describe("volumes", () => {
  test("V-083 V-149 are cloned, become active, and are read", async () => {
    const { body } = await v4.ask("POST /volumes/31007/clone", { label: "data" });
    expect(body).toMatchObject({
      status: "creating",
      size: 40,
      vm_id: null,
      vm_label: null,
      filesystem_path: expect.stringMatching(/data$/),
      hardware_type: "nvme",
    });
    v4.clock.advance(60_000);
    expect((await v4.read(`GET /volumes/${body.id}`)).status).toBe("active");
    expect(await v4.faults("POST /volumes/31007/clone", { label: "data" })).toEqual(["label"]);
    expect(await v4.faults("POST /volumes/31007/clone", { label: "2" })).toEqual(["label"]);
  });

  test("V-087 V-150 are cloned and resized only while active", async () => {
    const [, stuck] = await v4.list("/volumes");
    expect(stuck?.status).toBe("contact_support");
    for (const request of [`clone`, `resize`]) {
      const body = request === "clone" ? { label: "copy" } : { size: 500 };
      expect(await v4.status(`POST /volumes/${stuck?.id}/${request}`, body)).toBe(400);
    }
    expect(await v4.read("POST /volumes/31007/clone", { label: "copy" })).toMatchObject({
      label: "copy",
      size: 40,
    });
    expect(await v4.faults("POST /volumes/31007/resize", { size: 40 })).toEqual(["size"]);
    expect(await v4.read("POST /volumes/31007/resize", { size: 50 })).toEqual({});
    expect(await v4.read("GET /volumes/31007")).toMatchObject({ status: "resizing", size: 50 });
    expect(await v4.status("POST /volumes/31007/resize", { size: 60 })).toBe(400);
    v4.clock.advance(60_000);
    expect(await v4.status("POST /volumes/31007/resize", { size: 60 })).toBe(200);
  });

  test("are detached from an instance that is deleted", async () => {
    const account = {
      account: { company: "Harbour" },
      users: [
        {
          username: "kari",
          email: "kari@example.org",
          tokens: [{ label: "ci", scopes: "*", token: "kari-ci" }],
        },
      ],
      instances: [{ id: 7001, label: "web" }],
      volumes: [{ id: 7002, label: "data", status: "active", region: "us-east", instance: 7001 }],
    };
    const seeded = createTestSandbox({ data: { accounts: [account] } });
    const as = { authorization: "Bearer kari-ci" };
    expect(items(await seeded.request("GET /vm/instances/7001/volumes", { as }))).toMatchObject([
      { id: 7002, vm_id: 7001, vm_label: "web" },
    ]);
    await seeded.request("DELETE /vm/instances/7001", { as });
    seeded.clock.advance(60_000);
    expect((await seeded.request("GET /volumes/7002", { as })).body.vm_id).toBeNull();
  });
});

describe("load balancers", () => {
  test.each([0, 65_536, 99_999])("reject a node with the port %i", async (port) => {
    const path = "/nodebalancers/12077/configs/4401/nodes";
    const node = { label: "web-9", address: `192.168.148.90:${port}` };
    expect(await v4.faults(`POST ${path}`, node)).toEqual(["address"]);
    expect(await v4.faults(`PUT ${path}/66001`, { address: node.address })).toEqual(["address"]);
    const balancer = { region: "us-east", configs: [{ nodes: [node] }] };
    expect(await v4.faults("POST /nodebalancers", balancer)).toEqual(["configs[0].nodes[0].address"]);
    expect(await v4.status(`POST ${path}`, { ...node, address: "192.168.148.90:65535" })).toBe(200);
  });

  test("reject a check timeout above the interval", async () => {
    const path = "/nodebalancers/12077/configs";
    const late = { port: 8081, check: "connection", check_interval: 5, check_timeout: 6 };
    expect(await v4.faults(`POST ${path}`, late)).toEqual(["check_timeout"]);
    expect(await v4.faults(`PUT ${path}/4401`, { check_timeout: 6 })).toEqual(["check_timeout"]);
    expect(await v4.status(`PUT ${path}/4401`, { check_timeout: 6, check_interval: 10 })).toBe(200);
    expect(await v4.status(`POST ${path}`, { ...late, check_interval: 0, check_timeout: 30 })).toBe(200);
  });

  test("are created with ports and nodes, which are read, changed and deleted", async () => {
    const node = { label: "web-1", address: "192.168.148.81:80" };
    const body = { region: "us-east", label: "lb-new", configs: [{ port: 80, nodes: [node] }] };
    const response = await v4.ask("POST /nodebalancers", body);
    expect(response.body).toMatchObject({ label: "lb-new", client_conn_throttle: 0 });
    const path = `/nodebalancers/${response.body.id}/configs`;
    const [config] = await v4.list(path);
    expect(config).toMatchObject({ port: 80, protocol: "http", nodes_status: { up: 1, down: 0 } });
    expect(await v4.faults(`POST ${path}`, { port: 80 })).toEqual(["port"]);
    expect(await v4.faults(`POST ${path}`, { port: 443, protocol: "https" })).toEqual([
      "ssl_cert",
      "ssl_key",
    ]);
    const secured = { port: 443, protocol: "https", ssl_cert: "CERT", ssl_key: "KEY" };
    expect(await v4.read(`POST ${path}`, secured)).toMatchObject({
      ssl_cert: "<REDACTED>",
      ssl_key: "<REDACTED>",
    });
    const nodes = `${path}/${config?.id}/nodes`;
    const added = await v4.ask(`POST ${nodes}`, { label: "web-2", address: "192.168.148.82:80", weight: 10 });
    expect(added.body).toMatchObject({ mode: "accept", weight: 10, config_id: config?.id });
    expect(await v4.faults(`POST ${nodes}`, { label: "w", address: "10.0.0.1:80" })).toEqual([
      "address",
      "label",
    ]);
    const one = `${nodes}/${added.body.id}`;
    expect(await v4.read(`PUT ${one}`, { weight: 20 })).toMatchObject({ label: "web-2", weight: 20 });
    expect(await v4.status(`DELETE ${one}`)).toBe(200);
    expect(await v4.list(nodes)).toMatchObject([{ label: "web-1" }]);
    expect(await v4.status(`DELETE /nodebalancers/${response.body.id}`)).toBe(200);
    expect(await v4.status(`GET ${nodes}`)).toBe(404);
  });
});

describe("V-160 firewalls", () => {
  const rule = { protocol: "TCP", ports: "22, 80-443", action: "ACCEPT", addresses: { ipv4: ["0.0.0.0/0"] } };
  const make = (change: Json = {}, as: SandboxRequest["as"] = "full"): Promise<SandboxResponse> =>
    v4
      .as(as)
      .ask("POST /v4beta/networking/firewalls", { label: "wall", rules: { inbound: [rule] }, ...change });

  test("have rules and are attached to instances", async () => {
    const { body } = await make({ devices: { vms: [5201] } });
    expect(body).toMatchObject({
      status: "enabled",
      rules: { inbound: [rule], outbound: [], inbound_policy: "ACCEPT" },
    });
    const path = `/v4beta/networking/firewalls/${body.id}`;
    expect(await v4.list(`${path}/devices`)).toMatchObject([{ entity: { id: 5201, type: "vm" } }]);
    const device = await v4.ask(`POST ${path}/devices`, { id: 5202, type: "vm" });
    expect(device.body).toMatchObject({ entity: { id: 5202, type: "vm" } });
    expect(await v4.list(`${path}/devices`)).toHaveLength(2);
    expect(await v4.status(`DELETE ${path}/devices/${device.body.id}`)).toBe(200);
    expect(await v4.read(`PUT ${path}/rules`, { inbound_policy: "DROP" })).toMatchObject({
      inbound_policy: "DROP",
    });
    expect((await v4.read(`PUT ${path}`, { status: "disabled" })).status).toBe("disabled");
    expect(await v4.status(path.replace("/v4beta", "GET /v4"))).toBe(404);
    expect(await v4.status(`DELETE ${path}`)).toBe(200);
  });

  test("V-163 require write access to every device", async () => {
    const grants = { global: { add_firewalls: true } };
    await v4.ask("PUT /account/users/dev-kai/grants", grants);
    const before = await v4.list("/v4beta/networking/firewalls");
    expect((await make({ devices: { vms: [5201, 5202] } }, "restricted")).status).toBe(403);
    expect(await v4.list("/v4beta/networking/firewalls")).toEqual(before);
    expect((await make({ devices: { vms: [5201] } }, "restricted")).status).toBe(200);
  });

  test.each(["022", "22, 080", "1-0443", "0", "70000", "90-80", "x"])(
    "V-164 reject port %j",
    async (ports) => {
      const refused = await make({ rules: { inbound: [rule], outbound: [{ ...rule, ports }] } });
      expect([refused.status, errorFields(refused)]).toEqual([400, ["rules.outbound[0].ports"]]);
    },
  );
});

describe("V-159 object storage", () => {
  const bucket = { label: "photos", cluster: "us-east-1" };

  test("has buckets that are created, opened, given a certificate and deleted", async () => {
    expect(await v4.read("POST /object-storage/buckets", bucket)).toMatchObject({
      ...bucket,
      hostname: "photos.us-east-1.objects.example.com",
    });
    const path = "/object-storage/buckets/us-east-1/photos";
    expect(await v4.read(`PUT ${path}/access`, { acl: "public-read" })).toEqual({});
    expect(await v4.read(`GET ${path}/object-acl?name=a`)).toMatchObject({ acl: "public-read" });
    expect(await v4.read(`GET ${path}/ssl`)).toEqual({ ssl: false });
    expect(await v4.read(`POST ${path}/ssl`, { certificate: "C", private_key: "K" })).toEqual({
      ssl: true,
    });
    expect(await v4.status("GET /object-storage/transfer")).toBe(200);
    expect(await v4.faults("POST /object-storage/buckets", bucket)).toEqual(["label"]);
    expect(await v4.status(`DELETE ${path}`)).toBe(200);
    expect(await v4.status(`GET ${path}`)).toBe(404);
  });

  test("V-169 does not let a limited key open a bucket", async () => {
    const { body } = await v4.ask("POST /object-storage/keys", { label: "k", bucket_access: [] });
    expect(body).toMatchObject({
      limited: true,
      bucket_access: [],
      secret_key: expect.stringMatching(/^[0-9a-f]{40}$/),
    });
    const stored = await v4.ask(`GET /object-storage/keys/${body.id}`);
    expect(stored.body.secret_key).toBe("[REDACTED]");
    expect((await v4.read("POST /object-storage/keys", { label: "all" })).limited).toBe(false);
    const wrong = [{ cluster: "us-east-1", bucket_name: "none", permissions: "read_only" }];
    expect(await v4.status("POST /object-storage/keys", { label: "k", bucket_access: wrong })).toBe(400);
  });

  test("V-166 V-195 is cancelled with everything in it", async () => {
    const quota = async (): Promise<number> => Number((await v4.read("GET /account/transfer")).quota);
    const before = await quota();
    await v4.ask("POST /object-storage/buckets", bucket);
    await v4.ask("POST /object-storage/keys", { label: "k" });
    expect(await quota()).toBe(before + 1000);
    expect(await v4.read("POST /object-storage/cancel")).toEqual({});
    expect(await v4.list("/object-storage/buckets")).toEqual([]);
    expect(await v4.list("/object-storage/keys")).toEqual([]);
    expect(await quota()).toBe(before);
  });
});

test("objects that are created with a resource are not members of it", async () => {
  const config = { port: 80, nodes: [] };
  const response = await v4.ask("POST /nodebalancers", { region: "us-east", configs: [config] });
  expect(Object.keys(response.body)).not.toContain("configs");
});
