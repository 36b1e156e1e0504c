/** Finds out whether a pack would serve a call of the old API: its request is translated, but not sent. */
import { LRUCache } from "lru-cache";
import { REDACTED } from "../../audit/index.ts";
import { type ErrorDetail, type ErrorFormats, type Pack, splitPath } from "../../pack/index.ts";
import { pathTemplate } from "../../base/index.ts";
import type { Upstream } from "../../gateway/index.ts";
import {
  type CatalogLists,
  clientBody,
  createCatalogUpstream,
  createDryRun,
  type DryRun,
  type DryRunRequest,
  type DryRunResponse,
  withRoutes,
} from "../../compare/index.ts";
import type { ObservedCall } from "./observed-call.ts";

/** The reason why a pack refuses a call. */
export type RefusalKind =
  /** No route matches the path. */
  | "path"
  /** Routes match the path, but not with this method. */
  | "method"
  /** The pack declares that v4 has no such operation. */
  | "rejected"
  /** The route needs a token, or a token in a different location. */
  | "credentials"
  /** The pack would ignore a parameter of the query, so the response would differ. */
  | "parameter"
  /** The query, the filter, a header or the body breaks a rule, or can't be translated. */
  | "request";

/** The verdict of a pack about a call. */
export type Judgement =
  | { readonly verdict: "served"; readonly route: string }
  | {
      readonly verdict: "refused";
      readonly kind: RefusalKind;
      /** The pack's route, otherwise a template of the path. */
      readonly route: string;
      readonly reason: string;
    }
  /** The observed data is not sufficient. */
  | { readonly verdict: "unknown"; readonly reason: string };

interface JudgeOptions {
  /** The objects of v4's catalogs. */
  readonly catalogs: CatalogLists;
  readonly publicUrl?: URL | undefined;
  /** Parameters of the query that may be ignored. */
  readonly ignorable: ReadonlySet<string>;
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** Maximum number of cached judgements, because clients that poll repeat their calls. */
const MOST_REMEMBERED = 5000;
const LONGEST_REMEMBERED = 4096;

/** Creates an upstream that accepts all tokens and responds to every call with an empty object. */
const createEmptyUpstream = (): Upstream => ({
  call: async () => ({ status: 200, headers: {}, bytes: Buffer.from("{}"), ms: 0 }),
  close: () => Promise.resolve(),
});

/** Returns the headers that select the version of the pack. The headers of a recorded request are unknown. */
function versionHeaders({ dialect }: Pack): Readonly<Record<string, string>> {
  const { header, value, media_type: type } = dialect.client.version ?? {};
  if (type !== undefined) return { accept: type };
  return header === undefined || value === undefined ? {} : { [header.toLowerCase()]: value };
}

const refused = (kind: RefusalKind, route: string, reason: string): Judgement => ({
  verdict: "refused",
  kind,
  route,
  reason,
});

const unknown = (reason: string): Judgement => ({ verdict: "unknown", reason });

const describeDetail = ({ field, reason }: ErrorDetail): string =>
  field === undefined ? reason : `${field}: ${reason}`;

/** Judges the calls of one source. */
export class CallJudge {
  readonly #pack: Pack;
  readonly #dryRun: DryRun;
  readonly #ignorable: ReadonlySet<string>;
  readonly #remembered = new LRUCache<string, Judgement>({ max: MOST_REMEMBERED });
  /** The problems of the last refused call. */
  #details: readonly ErrorDetail[] = [];
  #catalogsRead: Promise<void> | undefined;

  constructor(pack: Pack, { catalogs, publicUrl, ignorable }: JudgeOptions) {
    this.#pack = pack;
    this.#ignorable = ignorable;
    const watch = (errors: ErrorFormats): ErrorFormats => ({
      ...errors,
      client: {
        ...errors.client,
        // The shape of the client's errors may be unable to contain a field or a text.
        write: (details, status, context) => {
          this.#details = details;
          return errors.client.write(details, status, context);
        },
      },
    });
    const watched = withRoutes({ ...pack, errors: watch(pack.errors) }, (route) =>
      route.errors ? { ...route, errors: watch(route.errors) } : route,
    );
    this.#dryRun = createDryRun(watched, createEmptyUpstream(), {
      publicUrl,
      catalogUpstream: createCatalogUpstream(pack, catalogs),
      // Most ids of v4's catalogs are unknown here.
      acceptsUnknownIds: true,
    });
  }

  async judge(call: ObservedCall): Promise<Judgement> {
    const { method, path, query, filter, body, headers, hasToken, file, missingBody } = call;
    const key = JSON.stringify([method, path, query, filter, body, headers, hasToken, file, missingBody]);
    const known = this.#remembered.get(key);
    if (known) return known;
    const judgement = await this.#find(call);
    if (key.length <= LONGEST_REMEMBERED) this.#remembered.set(key, judgement);
    return judgement;
  }

  async #find(call: ObservedCall): Promise<Judgement> {
    const missing = this.#missingRoute(call);
    if (missing) return missing;
    if (call.missingBody !== undefined) return unknown(call.missingBody);
    await (this.#catalogsRead ??= this.#readCatalogs());
    this.#details = [];
    let result: DryRunResponse;
    try {
      result = await this.#dryRun.send(this.#requestOf(call));
    } catch (error) {
      return unknown(`it could not be translated: ${(error as Error).message}`);
    }
    return this.#toJudgement(call, result);
  }

  async #readCatalogs(): Promise<void> {
    const { catalogs } = this.#dryRun;
    await catalogs.refresh().finally(() => catalogs.stop());
  }

  /** Returns the refusal of a path that does not exist in the pack, or not with this method. */
  #missingRoute({ method, path }: ObservedCall): Judgement | undefined {
    const { prefix } = this.#pack;
    const asked = method === "HEAD" ? "GET" : method;
    const route = `${asked} ${pathTemplate(path)}`;
    const segments = splitPath(path);
    if (!segments || !prefix.every((segment, index) => segments[index] === segment))
      return refused("path", route, "no route of the pack has this path");
    const below = segments.slice(prefix.length);
    if (this.#pack.match(asked, below)) return undefined;
    const others = METHODS.filter((other) => this.#pack.match(other, below));
    return others.length === 0
      ? refused("path", route, "no route of the pack has this path")
      : refused("method", route, `the pack has this path for ${others.join(", ")} only`);
  }

  #requestOf({ method, path, query, headers, filter, body, file, hasToken }: ObservedCall): DryRunRequest {
    const { dialect } = this.#pack;
    const filterHeader = dialect.client.filters?.header?.toLowerCase();
    // A body in an archive has a content type.
    const isTyped = headers["content-type"] !== undefined;
    const sent = isTyped ? { type: undefined, body } : clientBody(body, this.#pack);
    return {
      method,
      path: query === "" ? path : `${path}?${query}`,
      headers: {
        ...versionHeaders(this.#pack),
        ...headers,
        ...(filter !== null && filterHeader !== undefined && { [filterHeader]: filter }),
        ...(sent.type !== undefined && { "content-type": sent.type }),
      },
      body: sent.body,
      file,
      isAnonymous: !hasToken,
    };
  }

  #toJudgement(call: ObservedCall, { response, context }: DryRunResponse): Judgement {
    const { match, upstream, ignoredParameters } = context;
    const route = match?.route.name ?? `${call.method} ${pathTemplate(call.path)}`;
    const ignored = ignoredParameters.filter((name) => !this.#ignorable.has(name));
    if (context.upstreamEquivalent !== undefined)
      return ignored.length > 0
        ? refused("parameter", route, `unknown query parameter: ${ignored.toSorted().join(", ")}`)
        : { verdict: "served", route };
    const reason = this.#details.map(describeDetail).join("; ") || `status ${response.status}`;
    if (match?.route.kind === "rejected") return refused("rejected", route, reason);
    if (!context.sent) return this.#refusedByHead(route, reason, call);
    if ((upstream?.calls.length ?? 0) > 0)
      return unknown("it depends on an object of v4, which is not recorded");
    if (JSON.stringify([call.query, call.filter, call.body]).includes(REDACTED))
      return unknown("it has a masked value, which may be valid");
    return refused("request", route, reason);
  }

  /** Returns the refusal of a request whose query was not read: because of its credentials, its version, or its body. */
  #refusedByHead(route: string, reason: string, { hasToken }: ObservedCall): Judgement {
    return hasToken ? refused("request", route, reason) : refused("credentials", route, "it has no token");
  }
}
