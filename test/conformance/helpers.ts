/** Helpers that read responses, and the patterns that their values must match. */
import { expect } from "@jest/globals";
import type { GatewayRequest, Gateway } from "../support/gateway.ts";

export type Json = Record<string, unknown>;

/** Matches a response with this status and exactly this body, whatever its headers. */
export const answer = (status: number, body: unknown): unknown => expect.objectContaining({ status, body });

/** Matches an error response about these fields, in this order, each with a reason; without fields: about none. */
export function errorOn(status: number, ...fields: readonly (string | undefined)[]): unknown {
  const reason = expect.stringMatching(/\S/);
  const errors = (fields.length > 0 ? fields : [undefined]).map((field) =>
    field === undefined ? { reason } : { reason, field },
  );
  return answer(status, { errors });
}

/** Matches a success whose body has these members among others. */
export const successWith = (members: Json): unknown => answer(200, expect.objectContaining(members));

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
