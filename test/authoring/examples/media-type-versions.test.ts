/** `examples/media-type-versions`: a program of version 1, through the gateway, at the service with version 2. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { createTrackerService } from "../../../examples/media-type-versions/service.ts";
import { RECORDING } from "../../support/gateway.ts";
import { startExample, type ExampleGateway } from "./example-gateway.ts";

const TYPE = "application/vnd.tracker.v1+json";

let gateway: ExampleGateway;
beforeEach(async () => {
  gateway = await startExample("media-type-versions", createTrackerService(), { accept: TYPE }, RECORDING);
});
afterEach(() => gateway.stop());

/** Sends a request with the key and, with a body, the media type of version 1. */
const send = (call: string, body?: object, headers: Record<string, string> = {}) => {
  const [method, path = ""] = call.split(" ");
  const keyed = `${method} ${path}${path.includes("?") ? "&" : "?"}api_key=demo-token`;
  if (body === undefined) return gateway.send(keyed, { headers });
  return gateway.send(keyed, { raw: JSON.stringify(body), headers: { "content-type": TYPE, ...headers } });
};

const createTask = (task: object) => send("POST /projects/7/tasks", { task });

describe("a task", () => {
  test("is created from a wrapper, with the status, the address and the media type of version 1", async () => {
    const { status, headers, body } = await createTask({
      subject: "Paint the door",
      assigned_to: "ada",
      tags: ["home"],
    });
    expect([status, body]).toEqual([
      201,
      {
        task: {
          number: 1,
          project: 7,
          subject: "Paint the door",
          status: "open",
          assigned_to: "ada",
          tags: ["home"],
          remarks: [],
          created_on: "2026-01-01",
        },
      },
    ]);
    expect(headers.get("location")).toBe("/tasks/1");
    expect(headers.get("content-type")).toContain(TYPE);
  });

  test("is translated with the objects in its list, both ways", async () => {
    await createTask({ subject: "Paint", remarks: [{ by: "bob", text: "Which colour?" }] });
    const { body } = await send("GET /tasks/1");
    expect(body.task.remarks).toEqual([{ by: "bob", text: "Which colour?" }]);
  });

  test("has no member without a value", async () => {
    const { body } = await createTask({ subject: "Paint" });
    expect(body.task).not.toHaveProperty("assigned_to");
  });

  test("that has not changed is a 304", async () => {
    await createTask({ subject: "Paint" });
    const tag = (await send("GET /tasks/1")).headers.get("etag") ?? "";
    expect(tag).not.toBe("");
    const { status, text } = await send("GET /tasks/1", undefined, { "if-none-match": tag });
    expect([status, text]).toEqual([304, ""]);
  });

  test("is replaced by a PATCH with what changed, only if it is the one that was read", async () => {
    await createTask({ subject: "Paint", assigned_to: "ada" });
    const { headers, body } = await send("GET /tasks/1");
    const tag = { "if-match": headers.get("etag") ?? "" };
    const first = await send("PUT /tasks/1", { task: { ...body.task, status: "done" } }, tag);
    expect([first.status, first.body]).toEqual([200, { task: { ...body.task, status: "done" } }]);
    expect(gateway.received.at(-1)).toBe("PATCH /v2/issues/1");
    const second = await send("PUT /tasks/1", { task: { ...body.task, status: "active" } }, tag);
    expect([second.status, second.body.code]).toEqual([412, "edit_conflict"]);
    expect(second.body.message).toBe("The issue has changed since it was read.");
  });

  test("is not changed without If-Match", async () => {
    await createTask({ subject: "Paint" });
    const { status, body } = await send("PUT /tasks/1", { task: { status: "done" } });
    expect([status, body.code]).toEqual([428, "if_match_required"]);
  });

  test("is deleted without a body", async () => {
    await createTask({ subject: "Paint" });
    const { status, text } = await send("DELETE /tasks/1");
    expect([status, text]).toEqual([204, ""]);
    expect((await send("GET /tasks/1")).status).toBe(404);
  });

  test("that is invalid is refused with the client's field and code", async () => {
    const { status, body } = await createTask({ subject: " " });
    expect([status, body]).toEqual([
      422,
      {
        code: "invalid_task",
        message: "The issue is invalid.",
        errors: [{ field: "subject", reason: "must not be blank" }],
      },
    ]);
  });
});

describe("a list", () => {
  const subjectsOf = ({ body }: Awaited<ReturnType<typeof send>>): string[] =>
    body.tasks.map(({ subject }: { subject: string }) => subject);

  test("starts at any offset, also inside a page of the service", async () => {
    for (const subject of ["a", "b", "c", "d", "e", "f", "g"]) await createTask({ subject });
    const response = await send("GET /projects/7/tasks?offset=2&limit=3");
    expect(response.body).toMatchObject({ offset: 2, limit: 3, total_count: 7 });
    expect(subjectsOf(response)).toEqual(["c", "d", "e"]);
    expect(subjectsOf(await send("GET /projects/7/tasks?offset=6&limit=3"))).toEqual(["g"]);
  });

  test("has the filters and the order of version 1", async () => {
    await createTask({ subject: "Paint the door", assigned_to: "ada" });
    await createTask({ subject: "Fix the roof", assigned_to: "bob" });
    await createTask({ subject: "Sell the paint", assigned_to: "ada", status: "done" });
    const list = async (query: string) => subjectsOf(await send(`GET /projects/7/tasks?${query}`));
    expect(await list("assigned_to=ada")).toEqual(["Paint the door", "Sell the paint"]);
    expect(await list("assigned_to=ada&status=done")).toEqual(["Sell the paint"]);
    expect(await list("q=paint&sort=-created_on")).toEqual(["Sell the paint", "Paint the door"]);
    expect(await send("GET /projects/8/tasks")).toMatchObject({ body: { tasks: [], total_count: 0 } });
  });

  test("with a parameter that version 1 does not have is refused", async () => {
    expect((await send("GET /projects/7/tasks?colour=red")).status).toBe(400);
  });
});

describe("a request", () => {
  test("for a version that the pack does not serve is refused", async () => {
    const { status, body } = await gateway.send("GET /projects/7/tasks?api_key=demo-token", {
      headers: { accept: "application/vnd.tracker.v9+json" },
    });
    expect([status, body.code]).toEqual([406, "unknown_version"]);
    expect(gateway.received).toEqual([]);
  });

  test("with a body of another media type is refused", async () => {
    const { status } = await gateway.send("POST /projects/7/tasks?api_key=demo-token", {
      raw: "{}",
      headers: { "content-type": "application/vnd.tracker.v9+json" },
    });
    expect(status).toBe(415);
  });

  test("with a wrong key is a 401, and the audit has no key", async () => {
    const { status, body } = await gateway.send("GET /projects/7/tasks?api_key=other-token");
    expect([status, body]).toMatchObject([401, { code: "invalid_key", message: "The token is not valid." }]);
    expect(JSON.stringify(await gateway.readAudit())).not.toContain("other-token");
  });
});
