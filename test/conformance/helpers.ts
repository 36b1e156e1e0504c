/** Helpers that read responses, and the patterns that their values must match. */
import { expect } from "@jest/globals";
import type { GatewayRequest, Gateway, TestResponse } from "../support/gateway.ts";

export type Json = Record<string, unknown>;

/** Status and body: all that most statements speak of. */
export const statusAndBody = ({ status, body }: TestResponse): { status: number; body: unknown } => ({
  status,
  body,
});

/** Matches an error response with these fields, in this order, each with a reason; undefined: without a field. */
export const errorOn = (status: number, ...fields: (string | undefined)[]) => {
  const reason = expect.stringMatching(/\S/);
  return {
    status,
    body: { errors: fields.map((field) => (field === undefined ? { reason } : { reason, field })) },
  };
};

/** A success that shows these members among others. */
export const successWith = (members: Json) => ({ status: 200, body: expect.objectContaining(members) });

/** Every object of a list, page after page. */
export async function fetchAllRows(
  gateway: Gateway,
  call: string,
  list: string,
  options: GatewayRequest = {},
): Promise<Json[]> {
  const rows: Json[] = [];
  for (let page = 1; ; page += 1) {
    const { body } = await gateway.request(`${call}?page=${page}`, options);
    rows.push(...body[list]);
    if (page >= body.total_pages) return rows;
  }
}

/** The least that an instance is made of. */
export const minimalInstance = { datacenter: "newark", type: "standard-1" };

/** What makes an instance out of a distribution. */
export const debianInstance = {
  ...minimalInstance,
  distribution: "vm/debian11",
  root_pass: "S0me-long-Passw0rd",
};

/** Creates an instance and waits, on the sandbox's clock, until it is there and v4 takes the next create. */
export async function createInstance(gateway: Gateway, change: Json = {}): Promise<Json & { id: number }> {
  const { status, body } = await gateway.request("POST /vm/instances", {
    body: { ...minimalInstance, ...change },
  });
  if (status !== 200) throw new Error(`not created: ${JSON.stringify(body)}`);
  gateway.clock.advance(31_000);
  return body;
}
