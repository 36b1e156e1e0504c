import type { Request, RequestHandler, Response } from "express";
import {
  type NamedClients,
  type OfClients,
  readNamedQuery,
  type ReadQuery,
  type UsageQuery,
} from "../audit/index.ts";
import { sendErrors } from "./responses.ts";

/**
 * Creates a handler of a query whose client may be named. Problems of its parameters are the response.
 *
 * @param read reads the parameters
 * @param handle is called with the query. Its result is sent as JSON. Undefined: it has already sent the response
 */
export const handleNamedQuery =
  <Query extends Pick<UsageQuery, "client">>(
    named: () => NamedClients,
    read: (given: Readonly<Record<string, unknown>>) => ReadQuery<Query>,
    handle: (query: OfClients<Query>, request: Request, response: Response) => Promise<object | void>,
  ): RequestHandler =>
  async (request, response) => {
    const { query, problems } = await readNamedQuery(request.query, read, named());
    if (problems.length > 0) return sendErrors(response, 400, problems);
    const found = await handle(query, request, response);
    if (found !== undefined) response.json(found);
  };
