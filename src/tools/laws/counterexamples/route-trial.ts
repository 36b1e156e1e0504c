/** Sends one request of a route again and again, with other responses of the upstream. */
import { errorText } from "../../../config/error-text.ts";
import type { Route } from "../../../mapping/compile/route.ts";
import type { Pack } from "../../../mapping/pack.ts";
import type { CatalogLists } from "../../catalog-upstream.ts";
import { createCatalogUpstream } from "../../catalog-upstream.ts";
import { createDryRun, type DryRun, type DryRunRequest } from "../../dry-run.ts";
import type { ExampleResult } from "../../examples/compare-example.ts";
import { splitCall, type ExampleDefinition } from "../../examples/example.ts";
import { generateValue, type Random } from "../generate-values.ts";
import { parametersIn, parseSegment } from "../../../mapping/router.ts";
import type { DescribedApi, DescribedOperation } from "./described-api.ts";
import { DescribedUpstream, type DescribedCall } from "./described-upstream.ts";

/** A client's request, as a golden case writes it. */
export type TrialRequest = Pick<ExampleDefinition, "request" | "headers" | "body">;

/** The response to a client, with the calls that led to it. */
export interface Answer {
  readonly status: number;
  /** Undefined for a response without a body. */
  readonly body: unknown;
  readonly calls: readonly DescribedCall[];
  /** Why there is no response. */
  readonly failure: string | undefined;
  /** Rows that catalogs had in place of others. */
  readonly rows?: CatalogLists;
}

/** Requests of one route that are tried until one succeeds. */
const MAX_REQUESTS = 8;

const PARAMETERS = {
  integer: "1",
  text: "a",
  path: "a",
  ip: "192.0.2.1",
  ip4: "192.0.2.1",
  ip6: "2001:db8::1",
};

/** The path of a route with values in place of its parameters. */
function fillPath({ name, pathParameters }: Route): string {
  const [, path = ""] = name.split(" ");
  const typeOf = (parameter: string) => pathParameters[parameter]?.type ?? "integer";
  return path
    .split("/")
    .map((text) =>
      parametersIn(parseSegment(text, typeOf)).reduce(
        (filled, { parameter, type }) =>
          filled.replace(`{${parameter}}`, PARAMETERS[type]).replace(`:${parameter}`, PARAMETERS[type]),
        text,
      ),
    )
    .join("/");
}

/** Runs requests of a pack in front of the described upstream. */
export class Trials {
  readonly pack: Pack;
  readonly upstream: DescribedUpstream;
  /** The rows of its catalogs. */
  readonly lists: CatalogLists;
  readonly #api: DescribedApi;
  readonly #run: DryRun;

  private constructor(pack: Pack, api: DescribedApi, lists: CatalogLists) {
    this.pack = pack;
    this.lists = lists;
    this.#api = api;
    this.upstream = new DescribedUpstream(api);
    this.#run = createDryRun(pack, this.upstream, { catalogUpstream: createCatalogUpstream(pack, lists) });
  }

  /**
   * Creates the pipeline, with its catalogs.
   *
   * @param lists The rows of all catalogs, by their calls
   */
  static async start(pack: Pack, api: DescribedApi, lists: CatalogLists): Promise<Trials> {
    const trials = new Trials(pack, api, lists);
    await trials.#run.catalogs.refresh();
    return trials;
  }

  stop(): void {
    this.#run.catalogs.stop();
  }

  async send(
    { request, headers, body }: TrialRequest,
    bodies?: ReadonlyMap<DescribedOperation, unknown>,
  ): Promise<Answer> {
    this.upstream.begin(bodies);
    const sent: DryRunRequest = {
      ...splitCall(request, this.pack.dialect.client.base_path),
      ...(headers && { headers }),
      ...(body !== undefined && { body }),
    };
    try {
      const { response } = await this.#run.send(sent);
      const isJson = response.body !== "";
      return {
        status: response.status,
        body: isJson ? JSON.parse(response.body) : undefined,
        calls: this.upstream.calls,
        failure: undefined,
      };
    } catch (error) {
      return { status: 500, body: undefined, calls: this.upstream.calls, failure: errorText(error) };
    }
  }

  /** Sends a request while catalogs have other rows. */
  async sendWithRows(request: TrialRequest, rows: CatalogLists): Promise<Answer> {
    const other = await Trials.start(this.pack, this.#api, { ...this.lists, ...rows });
    const answer = await other.send(request);
    other.stop();
    return { ...answer, rows };
  }

  /** Requests that the route may accept: those of its golden cases, and generated ones. */
  requests(route: Route, results: readonly ExampleResult[], random: Random): TrialRequest[] {
    const written = results
      .filter(({ route: own, example }) => own === route && example.definition.response.status < 300)
      .map(({ example: { definition } }) => ({
        request: definition.request,
        ...(definition.headers && { headers: definition.headers }),
        ...(definition.body !== undefined && { body: definition.body }),
      }));
    const [method = ""] = route.name.split(" ");
    const request = `${method} ${fillPath(route)}`;
    const { body } = route;
    const generated = Array.from({ length: body ? 3 : 1 }, () => ({
      request,
      ...(body && { body: generateValue(body.schema, random) as TrialRequest["body"] }),
    }));
    const plain = method === "GET" ? [...generated, ...written] : [...written, ...generated];
    return plain.slice(0, MAX_REQUESTS);
  }
}
