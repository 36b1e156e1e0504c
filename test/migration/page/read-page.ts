import { RECORDING, type GatewayRequest, type TestGateway } from "../../support/gateway.ts";
import type { TestResponse } from "../../support/request.ts";

/** Settings of a gateway with the page, whose tests choose the addresses of their requests. */
export const PAGE_ON = { MIGRATION_PAGE: "on", ...RECORDING, TRUST_PROXY: "127.0.0.1" };

let last = 0;

/** Another address for each call, so that no limit of an address applies. */
export const newAddress = (): string => `10.${((last += 1) >> 16) & 255}.${(last >> 8) & 255}.${last & 255}`;

/** Reads the page from an address of its own. */
export const readPage = (
  gateway: Pick<TestGateway, "request">,
  { headers, ...options }: GatewayRequest = {},
): Promise<TestResponse> =>
  gateway.request("GET /v4/migration", {
    ...options,
    headers: { "x-forwarded-for": newAddress(), ...headers },
  });

/** The credentials of an application (RFC 6749 2.3.1). */
export const basic = (id: string, secret: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`,
});

/** A response without what differs in every response. */
export const comparable = ({
  status,
  headers,
  text,
}: Pick<TestResponse, "status" | "headers" | "text">): unknown => ({
  status,
  text,
  headers: Object.fromEntries(
    [...headers].filter(([name]) => !/^(?:date|x-request-id|x-ratelimit-.*|keep-alive)$/.test(name)),
  ),
});
