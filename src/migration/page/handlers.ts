/** The handlers of the pages for clients. */
import { credentialPlaces, HttpError, type Pack } from "../../pack/index.ts";
import { createHash } from "node:crypto";
import { addressNetwork } from "../../base/index.ts";
import {
  type AlphaHandler,
  type AlphaRequest,
  ANONYMOUS,
  type ApplicationCredentials,
  authenticate,
  consumeRateLimit,
  UpstreamActivity,
  findTokenCheck,
  type HandlerResult,
  hasFragment,
  header,
  type LifecycleDependencies,
  type LoginServer,
  NO_PLAN,
  type ProofDependencies,
  proveToken,
  type RateLimits,
  readBasicCredentials,
  type ReadCredentials,
  rejectLimited,
  type RequestContext,
  withLifecycle,
} from "../../gateway/index.ts";
import type { Caller, PageSources } from "./client-page.ts";
import type { PageState } from "./page-cache.ts";
import { PAGE_ROUTES } from "./page-paths.ts";
import type { PageFormat } from "./write-page.ts";

interface PageDependencies
  extends Omit<LifecycleDependencies, "plan">, ProofDependencies, Omit<PageSources, "pack" | "plan"> {
  readonly pack: Pack;
  /** The login server. If it is undefined, applications can't read their page. */
  readonly login: LoginServer | undefined;
  readonly plan: PageSources["plan"] & { readonly isActive: () => boolean };
  readonly limits: RateLimits;
  readonly pages: PageState;
  readonly readCredentials: ReadCredentials;
}

type Handle = (request: AlphaRequest, context: RequestContext) => Promise<HandlerResult>;

/** Returns the lifecycle for a page, which is not part of the API that ends. Search engines must not index it. */
function lifecycleOf(dependencies: PageDependencies): LifecycleDependencies {
  const { style } = dependencies;
  const headers = { ...style.headers, "x-robots-tag": "noindex" };
  return { ...dependencies, plan: NO_PLAN, style: { ...style, headers } };
}

const createHandler = (route: string, dependencies: PageDependencies, handle: Handle): AlphaHandler =>
  withLifecycle(async (request, context) => {
    context.route = route;
    context.isOwnPage = true;
    if (hasFragment(request)) throw new HttpError(400, "The address has a fragment.");
    return handle(request, context);
  }, lifecycleOf(dependencies));

/** Creates the error for all unproven callers, which is the same regardless of their request. */
function createUnknownError({ style, login }: PageDependencies): HttpError {
  // After this response, a browser prompts for the id and the secret of an application (RFC 7617).
  const challenges = [style.challenge, login && 'Basic realm="migration", charset="UTF-8"'].filter(Boolean);
  return new HttpError(
    401,
    `A valid access token is required${login ? ", or the id and the secret of an application" : ""}.`,
    undefined,
    challenges.length > 0 ? { "www-authenticate": challenges.join(", ") } : undefined,
  );
}

/** Checks the id and the secret of an application. @returns undefined if the login server does not accept them */
async function proveApplication(
  credentials: ApplicationCredentials,
  context: RequestContext,
  login: LoginServer,
): Promise<Caller | undefined> {
  const { client, secret } = credentials;
  if (client === "" || secret === "") return undefined;
  const activity = new UpstreamActivity(context.warnings, context.span?.call);
  context.upstream = activity;
  if (!(await login.authenticate(credentials, activity))) return undefined;
  context.application = { id: client, isProven: true };
  return { kind: "application", application: client };
}

/**
 * Proves the caller. The cost and the response are the same for all unproven callers.
 *
 * @param limitAddress Called for all callers except recently accepted tokens, so that other clients with the same
 *   address don't use up their requests.
 */
async function proveCaller(
  request: AlphaRequest,
  context: RequestContext,
  dependencies: PageDependencies,
  limitAddress: () => void,
): Promise<Caller | undefined> {
  const { pack, limits, login, readCredentials, tokens } = dependencies;
  // If clients send their token in Basic credentials, these are not an application's secret.
  const isTokenBasic = credentialPlaces(pack.dialect.client.credentials).some(
    ({ basic }) => basic !== undefined,
  );
  const application = isTokenBasic ? undefined : readBasicCredentials(request);
  const client = application ? ANONYMOUS : await authenticate(request, readCredentials, tokens);
  if (!client.isAccepted) limitAddress();
  const { status, creditAddress } = await consumeRateLimit(request, client, undefined, limits);
  context.rateLimitStatus = status;
  rejectLimited(status);
  if (application) return login && proveApplication(application, context, login);
  const check = findTokenCheck(pack);
  const proof = { check, creditAddress, isExclusive: true, dependencies };
  const token = await proveToken(request, client, context, proof);
  return token && { kind: "token", ...token };
}

/** Returns the key of a caller in the cache and for the limit. */
const callerKey = (caller: Caller): string =>
  caller.kind === "token" ? `token ${caller.fingerprint}` : `application ${caller.application}`;

/** Creates the handler of `GET /migration` for one format. */
export function createPageHandler(format: PageFormat, dependencies: PageDependencies): AlphaHandler {
  const { pack, pages } = dependencies;

  function consumeOwn(limiter: PageState["addresses"], key: string, context: RequestContext): void {
    const status = limiter.consume(key);
    if (status.isAllowed) return;
    context.rateLimitStatus = status;
    rejectLimited(status);
  }

  return createHandler(PAGE_ROUTES.page, dependencies, async (request, context) => {
    const caller = await proveCaller(request, context, dependencies, () =>
      consumeOwn(pages.addresses, addressNetwork(request.address), context),
    );
    if (!caller) throw createUnknownError(dependencies);
    const key = callerKey(caller);
    consumeOwn(pages.identities, key, context);
    // The module is loaded when the first page is read.
    const { PAGE_FORMATS } = await import("./write-page.ts");
    const { readClientPage } = await import("./client-page.ts");
    const { write, headers } = PAGE_FORMATS[format];
    const body = await pages.find(JSON.stringify([key, request.label, format, pack.hash]), async () =>
      write(await readClientPage(caller, request.label, dependencies)),
    );
    return { status: 200, body, headers };
  });
}

/** The version of the description. It changes with the pack, not with the program. */
const DESCRIPTION_VERSION = "1";
/** Milliseconds for which a generated description is reused. */
const DESCRIPTION_TTL = 60_000;

const isSameTag = (request: AlphaRequest, etag: string): boolean =>
  (header(request, "if-none-match") ?? "")
    .split(",")
    .some((tag) => [etag, "*"].includes(tag.trim().replace(/^W\//, "")));

/**
 * Creates the handler of `GET /openapi.json`, without credentials. It describes the pack and the plan, and contains no
 * data about clients.
 */
export function createDescriptionHandler(dependencies: PageDependencies): AlphaHandler {
  const { pack, plan, limits } = dependencies;
  let written: { readonly body: string; readonly etag: string; readonly until: number } | undefined;

  async function write(now: number): Promise<NonNullable<typeof written>> {
    const { describePack } = await import("../../pack/index.ts");
    const ends = plan.isActive() ? { endOf: (route: string) => plan.endOf({}, route) } : undefined;
    const body = JSON.stringify(describePack(pack, DESCRIPTION_VERSION, ends));
    const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
    return { body, etag, until: now + DESCRIPTION_TTL };
  }

  return createHandler(PAGE_ROUTES.description, dependencies, async (request, context) => {
    const { status } = await consumeRateLimit(request, ANONYMOUS, undefined, limits);
    context.rateLimitStatus = status;
    rejectLimited(status);
    const now = performance.now();
    if (!written || written.until <= now) written = await write(now);
    const { body, etag } = written;
    const headers = { etag, "cache-control": "public, max-age=60" };
    if (isSameTag(request, etag)) return { status: 304, body: "", headers };
    return {
      status: 200,
      body,
      headers: { ...headers, "content-type": "application/json; charset=utf-8" },
    };
  });
}
