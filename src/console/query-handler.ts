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
 * Creates a handler of queries that may name a client. It responds with the problems of invalid parameters.
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
