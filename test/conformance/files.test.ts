/** The two kinds of files that alpha has: pictures of applications, and attachments of tickets. */
import { expect, test } from "@jest/globals";
import { successWith, errorOn } from "./helpers.ts";
import { startGateway } from "../support/gateway.ts";
import { startForTests } from "../support/start-for-tests.ts";

const gateway = startForTests(() => startGateway());

test("T-8.13 a picture is stored and returned unchanged, also with two slashes in the path", async () => {
  const client = { name: "pictured", redirect_uri: "https://app.example.net/" };
  const { body: made } = await gateway.request("POST /account/clients", { body: client });
  const path = `/v4//account/clients/${made.id}/thumbnail`;
  expect(await gateway.request(`GET ${path}`)).toEqual(errorOn(404));
  const picture = Buffer.from("89504e470d0a1a0a00ff", "hex");
  const image = { raw: picture, headers: { "content-type": "image/png" } };
  expect(await gateway.request(`PUT ${path}`, image)).toMatchObject({ status: 200, body: {} });
  // Pages show it by an image tag, which sends no token.
  for (const as of [null, "full", "unknown"]) {
    const { status, headers, bytes } = await gateway.request(`GET ${path}`, { as });
    expect([status, headers.get("content-type")]).toEqual([200, "image/png"]);
    expect(bytes().equals(picture)).toBe(true);
  }
});

test("a file is attached to a ticket, and one that v4 rejects is rejected", async () => {
  const words = { summary: "A question", description: "Details" };
  const { body: ticket } = await gateway.request("POST /support/tickets", { body: words });
  const attach = async (name: string): Promise<[number, unknown]> => {
    const form = new FormData();
    form.set("file", new Blob(["what it says"]), name);
    const path = `/support/tickets/${ticket.id}/attachments`;
    const { status, body } = await gateway.request(`POST ${path}`, { raw: form });
    return [status, body];
  };
  expect(await attach("log.txt")).toEqual([200, {}]);
  expect((await gateway.requestV4(`GET /support/tickets/${ticket.id}`)).body.attachments).toEqual([
    "log.txt",
  ]);
  expect(await attach("virus.exe")).toEqual([400, { errors: [{ reason: expect.any(String) }] }]);
  expect(await gateway.request(`GET /support/tickets/${ticket.id}`)).toEqual(
    successWith({ summary: "A question" }),
  );
});
