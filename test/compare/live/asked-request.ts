/** The request of a comparison, and a roll-out that records nothing. */
import type { AlphaRequest } from "../../../src/gateway/request/request.ts";
import type { ComparedSides } from "../../../src/compare/live/compared-sides.ts";
import type { AskedRequest } from "../../../src/compare/live/served-request.ts";
import type { Route } from "../../../src/pack/routes/route.ts";

export const askedRequest = (given: Partial<AlphaRequest> = {}, body?: Buffer): AskedRequest => ({
  request: {
    id: "r1",
    method: "GET",
    path: "/things",
    query: "",
    address: "192.0.2.7",
    headers: {},
    ...given,
  } as AlphaRequest,
  route: { name: "GET /things" } as Route,
  payer: "shop",
  provenBy: () => "shop",
  body,
});

export const sides: Pick<ComparedSides, "beginOld" | "noteOld"> = {
  beginOld: () => () => {},
  noteOld() {},
};
