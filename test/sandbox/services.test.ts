import { describe, expect, test } from "@jest/globals";
import type { SandboxResponse, SandboxRequest, Json } from "./sandbox-service.ts";
import { createTestSandbox, errorFields, items, sandboxForEachTest } from "./sandbox-service.ts";

const service = sandboxForEachTest();

const ask = (request: string, body?: Json, as: SandboxRequest["as"] = "full"): Promise<SandboxResponse> =>
  service.request(request, { as, ...(body && { body }) });
const status = async (request: string, body?: Json): Promise<number> => (await ask(request, body)).status;

describe("volumes", () => {
  test("V-083 V-149 are cloned, become active, and are read", async () => {
    const { body } = await ask("POST /volumes/31007/clone", { label: "data" });
    expect(body).toMatchObject({
      status: "creating",
      size: 40,
      vm_id: null,
      vm_label: null,
      filesystem_path: expect.stringMatching(/data$/),
      hardware_type: "nvme",
    });
    service.clock.advance(60_000);
    expect((await ask(`GET /volumes/${String(body["id"])}`)).body["status"]).toBe("active");
    expect(errorFields(await ask("POST /volumes/31007/clone", { label: "data" }))).toEqual(["label"]);
    expect(errorFields(await ask("POST /volumes/31007/clone", { label: "2" }))).toEqual(["label"]);
  });

  test("V-087 V-150 are cloned and resized only while active", async () => {
    const [, stuck] = items(await ask("GET /volumes"));
    expect(stuck?.["status"]).toBe("contact_support");
    for (const request of [`clone`, `resize`]) {
      const body = request === "clone" ? { label: "copy" } : { size: 500 };
      expect(await status(`POST /volumes/${String(stuck?.["id"])}/${request}`, body)).toBe(400);
    }
    expect((await ask("POST /volumes/31007/clone", { label: "copy" })).body).toMatchObject({
      label: "copy",
      size: 40,
    });
    expect(errorFields(await ask("POST /volumes/31007/resize", { size: 40 }))).toEqual(["size"]);
    expect((await ask("POST /volumes/31007/resize", { size: 50 })).body).toEqual({});
    expect((await ask("GET /volumes/31007")).body).toMatchObject({ status: "resizing", size: 50 });
    expect(await status("POST /volumes/31007/resize", { size: 60 })).toBe(400);
    service.clock.advance(60_000);
    expect(await status("POST /volumes/31007/resize", { size: 60 })).toBe(200);
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
    expect((await seeded.request("GET /volumes/7002", { as })).body["vm_id"]).toBeNull();
  });
});

describe("load balancers", () => {
  test.each([0, 65_536, 99_999])("reject a node with the port %i", async (port) => {
    const path = "/nodebalancers/12077/configs/4401/nodes";
    const node = { label: "web-9", address: `192.168.148.90:${port}` };
    expect(errorFields(await ask(`POST ${path}`, node))).toEqual(["address"]);
    expect(errorFields(await ask(`PUT ${path}/66001`, { address: node.address }))).toEqual(["address"]);
    const balancer = { region: "us-east", configs: [{ nodes: [node] }] };
    expect(errorFields(await ask("POST /nodebalancers", balancer))).toEqual(["configs[0].nodes[0].address"]);
    expect(await status(`POST ${path}`, { ...node, address: "192.168.148.90:65535" })).toBe(200);
  });

  test("reject a check timeout above the interval", async () => {
    const path = "/nodebalancers/12077/configs";
    const late = { port: 8081, check: "connection", check_interval: 5, check_timeout: 6 };
    expect(errorFields(await ask(`POST ${path}`, late))).toEqual(["check_timeout"]);
    expect(errorFields(await ask(`PUT ${path}/4401`, { check_timeout: 6 }))).toEqual(["check_timeout"]);
    expect(await status(`PUT ${path}/4401`, { check_timeout: 6, check_interval: 10 })).toBe(200);
    expect(await status(`POST ${path}`, { ...late, check_interval: 0, check_timeout: 30 })).toBe(200);
  });

  test("are created with ports and nodes, which are read, changed and deleted", async () => {
    const node = { label: "web-1", address: "192.168.148.81:80" };
    const body = { region: "us-east", label: "lb-new", configs: [{ port: 80, nodes: [node] }] };
    const response = await ask("POST /nodebalancers", body);
    expect(response.body).toMatchObject({ label: "lb-new", client_conn_throttle: 0 });
    const path = `/nodebalancers/${String(response.body["id"])}/configs`;
    const [config] = items(await ask(`GET ${path}`));
    expect(config).toMatchObject({ port: 80, protocol: "http", nodes_status: { up: 1, down: 0 } });
    expect(errorFields(await ask(`POST ${path}`, { port: 80 }))).toEqual(["port"]);
    expect(errorFields(await ask(`POST ${path}`, { port: 443, protocol: "https" }))).toEqual([
      "ssl_cert",
      "ssl_key",
    ]);
    const secured = { port: 443, protocol: "https", ssl_cert: "CERT", ssl_key: "KEY" };
    expect((await ask(`POST ${path}`, secured)).body).toMatchObject({
      ssl_cert: "<REDACTED>",
      ssl_key: "<REDACTED>",
    });
    const nodes = `${path}/${String(config?.["id"])}/nodes`;
    const added = await ask(`POST ${nodes}`, { label: "web-2", address: "192.168.148.82:80", weight: 10 });
    expect(added.body).toMatchObject({ mode: "accept", weight: 10, config_id: config?.["id"] });
    expect(errorFields(await ask(`POST ${nodes}`, { label: "w", address: "10.0.0.1:80" }))).toEqual([
      "address",
      "label",
    ]);
    const one = `${nodes}/${String(added.body["id"])}`;
    expect((await ask(`PUT ${one}`, { weight: 20 })).body).toMatchObject({ label: "web-2", weight: 20 });
    expect(await status(`DELETE ${one}`)).toBe(200);
    expect(items(await ask(`GET ${nodes}`))).toMatchObject([{ label: "web-1" }]);
    expect(await status(`DELETE /nodebalancers/${String(response.body["id"])}`)).toBe(200);
    expect(await status(`GET ${nodes}`)).toBe(404);
  });
});

describe("V-160 firewalls", () => {
  const rule = { protocol: "TCP", ports: "22, 80-443", action: "ACCEPT", addresses: { ipv4: ["0.0.0.0/0"] } };
  const make = (change: Json = {}, as: SandboxRequest["as"] = "full"): Promise<SandboxResponse> =>
    ask("POST /v4beta/networking/firewalls", { label: "wall", rules: { inbound: [rule] }, ...change }, as);

  test("have rules and are attached to instances", async () => {
    const { body } = await make({ devices: { vms: [5201] } });
    expect(body).toMatchObject({
      status: "enabled",
      rules: { inbound: [rule], outbound: [], inbound_policy: "ACCEPT" },
    });
    const path = `/v4beta/networking/firewalls/${String(body["id"])}`;
    expect(items(await ask(`GET ${path}/devices`))).toMatchObject([{ entity: { id: 5201, type: "vm" } }]);
    const device = await ask(`POST ${path}/devices`, { id: 5202, type: "vm" });
    expect(device.body).toMatchObject({ entity: { id: 5202, type: "vm" } });
    expect(items(await ask(`GET ${path}/devices`))).toHaveLength(2);
    expect(await status(`DELETE ${path}/devices/${String(device.body["id"])}`)).toBe(200);
    expect((await ask(`PUT ${path}/rules`, { inbound_policy: "DROP" })).body).toMatchObject({
      inbound_policy: "DROP",
    });
    expect((await ask(`PUT ${path}`, { status: "disabled" })).body["status"]).toBe("disabled");
    expect(await status(path.replace("/v4beta", "GET /v4"))).toBe(404);
    expect(await status(`DELETE ${path}`)).toBe(200);
  });

  test("V-163 require write access to every device", async () => {
    const grants = { global: { add_firewalls: true } };
    await ask("PUT /account/users/dev-kai/grants", grants);
    const before = items(await ask("GET /v4beta/networking/firewalls"));
    expect((await make({ devices: { vms: [5201, 5202] } }, "restricted")).status).toBe(403);
    expect(items(await ask("GET /v4beta/networking/firewalls"))).toEqual(before);
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
    expect((await ask("POST /object-storage/buckets", bucket)).body).toMatchObject({
      ...bucket,
      hostname: "photos.us-east-1.objects.example.com",
    });
    const path = "/object-storage/buckets/us-east-1/photos";
    expect((await ask(`PUT ${path}/access`, { acl: "public-read" })).body).toEqual({});
    expect((await ask(`GET ${path}/object-acl?name=a`)).body).toMatchObject({ acl: "public-read" });
    expect((await ask(`GET ${path}/ssl`)).body).toEqual({ ssl: false });
    expect((await ask(`POST ${path}/ssl`, { certificate: "C", private_key: "K" })).body).toEqual({
      ssl: true,
    });
    expect(await status("GET /object-storage/transfer")).toBe(200);
    expect(errorFields(await ask("POST /object-storage/buckets", bucket))).toEqual(["label"]);
    expect(await status(`DELETE ${path}`)).toBe(200);
    expect(await status(`GET ${path}`)).toBe(404);
  });

  test("V-169 does not let a limited key open a bucket", async () => {
    const { body } = await ask("POST /object-storage/keys", { label: "k", bucket_access: [] });
    expect(body).toMatchObject({
      limited: true,
      bucket_access: [],
      secret_key: expect.stringMatching(/^[0-9a-f]{40}$/),
    });
    const stored = await ask(`GET /object-storage/keys/${String(body["id"])}`);
    expect(stored.body["secret_key"]).toBe("[REDACTED]");
    expect((await ask("POST /object-storage/keys", { label: "all" })).body["limited"]).toBe(false);
    const wrong = [{ cluster: "us-east-1", bucket_name: "none", permissions: "read_only" }];
    expect(await status("POST /object-storage/keys", { label: "k", bucket_access: wrong })).toBe(400);
  });

  test("V-166 V-195 is cancelled with everything in it", async () => {
    const quota = async (): Promise<number> => Number((await ask("GET /account/transfer")).body["quota"]);
    const before = await quota();
    await ask("POST /object-storage/buckets", bucket);
    await ask("POST /object-storage/keys", { label: "k" });
    expect(await quota()).toBe(before + 1000);
    expect((await ask("POST /object-storage/cancel")).body).toEqual({});
    expect(items(await ask("GET /object-storage/buckets"))).toEqual([]);
    expect(items(await ask("GET /object-storage/keys"))).toEqual([]);
    expect(await quota()).toBe(before);
  });
});

test("user name and password of a managed credential are never shown", async () => {
  const body = { label: "shop db", username: "root-name", password: "S3cret-of-shop" };
  const response = await ask("POST /managed/credentials", body);
  expect(Object.keys(response.body).toSorted()).toEqual(["id", "label", "last_decrypted"]);
  const path = `/managed/credentials/${String(response.body["id"])}`;
  await ask(`POST ${path}/update`, { username: "other-name", password: "0ther-S3cret" });
  for (const request of [`GET ${path}`, "GET /managed/credentials", "GET /account/events"]) {
    const text = JSON.stringify((await ask(request)).body);
    for (const secret of ["root-name", "S3cret", "other-name"]) expect(text).not.toContain(secret);
  }
  expect(JSON.stringify(service.sandbox.save())).not.toContain("S3cret");
});

test("objects that are created with a resource are not members of it", async () => {
  const config = { port: 80, nodes: [] };
  const response = await ask("POST /nodebalancers", { region: "us-east", configs: [config] });
  expect(Object.keys(response.body)).not.toContain("configs");
});
