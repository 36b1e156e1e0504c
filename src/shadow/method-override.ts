/** Requests that may be something else than their method says, for a service that lets clients override it. */
import { readParameters } from "../dialect/query.ts";
import type { AlphaRequest } from "../pipeline/context.ts";

const HEADERS = ["x-http-method-override", "x-method-override", "x-http-method"];
const PARAMETER = "_method";

/** Whether a request names another method, so that the old service may take a read for a write. */
export const overridesMethod = ({ headers, query }: Pick<AlphaRequest, "headers" | "query">): boolean =>
  HEADERS.some((name) => headers[name] !== undefined) ||
  (query !== "" && readParameters(query).has(PARAMETER));
