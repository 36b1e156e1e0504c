import { describe, expect, test } from "@jest/globals";
import {
  errorFields,
  items,
  sandboxForEachTest,
  type SandboxResponse,
  type Json,
} from "./sandbox-service.ts";

const v4 = sandboxForEachTest();

const open = (change: Json = {}): Promise<SandboxResponse> =>
  v4.ask("POST /support/tickets", { summary: "Stuck", description: "It is stuck.", ...change });

test("V-073 V-080 V-114 a ticket is opened and read", async () => {
  const { body } = await open({ vm_id: 5201 });
  expect(body).toEqual({
    id: expect.any(Number),
    entity: { id: 5201, label: expect.any(String), type: "vm", url: "/v4/vm/instances/5201" },
    status: "new",
    summary: "Stuck",
    description: "It is stuck.",
    attachments: [],
    opened: "2022-05-10T09:00:00",
    opened_by: "ops-anna",
    updated: "2022-05-10T09:00:00",
    updated_by: null,
    closed: null,
    closable: true,
    avatar_id: expect.stringMatching(/^[0-9a-f]{32}$/),
  });
  expect(await v4.read(`GET /support/tickets/${body.id}`)).toEqual(body);
  expect(await v4.status("GET /support/tickets/1")).toBe(404);
  expect(await v4.as("other").status(`GET /support/tickets/${body.id}`)).toBe(404);
});

test("V-183 leaves an event", async () => {
  const { body } = await open();
  const [event] = await v4.list("/account/events");
  expect(event).toMatchObject({ action: "ticket_create", entity: { id: body.id, type: "ticket" } });
});

describe("V-074 summary and description", () => {
  test.each([
    ["summary", 64],
    ["description", 65_000],
  ])("%s has 1 to %i characters", async (field, most) => {
    expect((await open({ [field]: "x".repeat(most) })).status).toBe(200);
    v4.clock.advance(60_000);
    expect(errorFields(await open({ [field]: "x".repeat(most + 1) }))).toEqual([field]);
    v4.clock.advance(60_000);
    expect(errorFields(await open({ [field]: "" }))).toEqual([field]);
  });
});

test("V-075 opened, updated and closed are filterable, and open ones come first", async () => {
  await open();
  const list = async (filter?: Json): Promise<unknown[]> =>
    items(await v4.request("GET /support/tickets", { ...(filter && { filter }) })).map(
      ({ status }) => status,
    );
  expect(await list()).toEqual(["open", "new", "closed"]);
  expect(await list({ opened: { "+gt": "2022-05-09T00:00:00" } })).toEqual(["new"]);
  expect(await list({ closed: null })).toEqual(["open", "new"]);
  expect(await list({ updated: { "+lt": "2022-04-01T00:00:00" } })).toEqual(["closed"]);
  expect((await v4.request("GET /support/tickets", { filter: { status: "new" } })).status).toBe(400);
});

test("concerns at most one object of the account", async () => {
  expect(errorFields(await open({ vm_id: 5201, domain_id: 7010 }))).toEqual(["domain_id", "vm_id"]);
  expect(errorFields(await open({ vm_id: 5261 }))).toEqual(["vm_id"]);
});

test("V-193 at most two tickets are opened in a minute", async () => {
  expect([(await open()).status, (await open()).status, (await open()).status]).toEqual([200, 200, 429]);
});

describe("V-156 a ticket", () => {
  test("may concern a cluster", async () => {
    const body = {
      label: "prod",
      region: "us-east",
      k8s_version: "1.22",
      node_pools: [{ type: "g6-standard-2", count: 1 }],
    };
    const { id } = await v4.read("POST /orch/clusters", body);
    expect((await open({ orchcluster_id: id })).body).toMatchObject({ entity: { id, label: "prod" } });
    expect(errorFields(await open({ orchcluster_id: 1 }))).toEqual(["orchcluster_id"]);
  });

  test("accepts files of up to 5 MB", async () => {
    const path = `/support/tickets/${String((await open()).body.id)}`;
    const attach = (name: string, bytes: number, member = "file"): Promise<SandboxResponse> => {
      const upload = new FormData();
      upload.set(member, new Blob([new Uint8Array(bytes)]), name);
      return v4.request(`POST ${path}/attachments`, { raw: upload });
    };
    const sent = await attach("trace.txt", 5 * 1_048_576);
    expect([sent.status, sent.body]).toEqual([200, {}]);
    expect(await v4.read(`GET ${path}`)).toMatchObject({
      attachments: ["trace.txt"],
      updated_by: "ops-anna",
    });
    for (const refused of [
      await attach("trace.txt", 5 * 1_048_576 + 1),
      await attach("trace.exe", 10),
      await attach("trace.txt", 10, "other"),
      await v4.ask(`POST ${path}/attachments`, { file: "x" }),
    ]) {
      expect([refused.status, errorFields(refused)]).toEqual([400, ["file"]]);
    }
    expect((await attach("trace.txt", 7 * 1_048_576)).status).toBe(400);
  });

  test("is replied to, and a closed one is reopened by a reply", async () => {
    const path = `/support/tickets/${String((await open()).body.id)}`;
    const reply = await v4.ask(`POST ${path}/replies`, { description: "Thanks" });
    expect(reply.body).toMatchObject({ description: "Thanks", created_by: "ops-anna", from_vm: false });
    expect(await v4.list(`${path}/replies`)).toEqual([reply.body]);
    expect((await v4.read(`GET ${path}`)).status).toBe("open");
    const closed = "/support/tickets/220046";
    expect(await v4.read(`GET ${closed}`)).toMatchObject({ status: "closed" });
    await v4.ask(`POST ${closed}/replies`, { description: "Again" });
    expect(await v4.read(`GET ${closed}`)).toMatchObject({ status: "open", closed: null });
    expect(await v4.faults(`POST ${path}/replies`, { description: "" })).toEqual(["description"]);
  });
});
