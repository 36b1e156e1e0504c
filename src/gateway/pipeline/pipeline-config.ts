import {
  type ClientCredentialsDefinition,
  compileAskedForms,
  credentialPlaces,
  type Pack,
} from "../../pack/index.ts";
import { createTokenJudge } from "../auth/judge-token.ts";
import { CURSOR_MARK, hasOpaqueCursors } from "./cursor-mark.ts";
import { type Settings, SettingsError } from "../../base/index.ts";

/** Settings of the headers that all responses contain. */
type ResponseSettings = Partial<
  Pick<
    Settings,
    | "CANDIDATE_MAPPINGS_DIR"
    | "CORS_ORIGINS"
    | "SERVER_TIMING"
    | "PUBLIC_URL"
    | "ROLLOUT_FILE"
    | "UPSTREAM_URL"
  >
>;

/** The part of the pipeline's dependencies that a pack determines. */
export function createPipelineConfig(pack: Pack, settings: ResponseSettings = {}) {
  const askedForm = compileAskedForms(pack.dialect.client);
  const style: ResponseDefaults = { ...createResponseDefaults(pack, settings), askedForm };
  return { pack, judgeToken: createTokenJudge(pack), style };
}

/** Whether links to other pages of a list contain a host. */
const hasAbsoluteLinks = ({ routes }: Pack): boolean =>
  routes.some(({ response, lists }) => response === "list" && lists.paging.hasAbsoluteLinks);

/**
 * Returns the address before the path of links to other pages. Only the setting defines the host, because clients
 * choose the `Host` of a request.
 *
 * @throws {SettingsError} If the pack's links contain a host and `PUBLIC_URL` is missing.
 */
export function readLinkBase({ PUBLIC_URL }: Pick<Settings, "PUBLIC_URL">, pack: Pack): string {
  if (!hasAbsoluteLinks(pack) && !pack.hasAbsoluteHeaders) return "";
  if (!PUBLIC_URL) throw new SettingsError(["PUBLIC_URL is missing: links of the pack have a host"]);
  return PUBLIC_URL.href.replace(/\/$/, "");
}

/**
 * Returns the headers on which the responses of all lanes depend: `Origin` because of CORS, and `X-Pack` if there are
 * two packs.
 */
export const settingsVary = ({
  CORS_ORIGINS: origins,
  CANDIDATE_MAPPINGS_DIR: folder,
}: Partial<Pick<Settings, "CORS_ORIGINS" | "CANDIDATE_MAPPINGS_DIR">>): readonly string[] => [
  ...(origins === undefined ? [] : ["Origin"]),
  ...(folder === undefined ? [] : ["X-Pack"]),
];

/** The common parts of all responses of a gateway, decided at the start. */
export type ResponseDefaults = ReturnType<typeof createResponseDefaults> & {
  /** Reads the form of the response that a client requests. Undefined if clients can't request one. */
  readonly askedForm: ReturnType<typeof compileAskedForms>;
};

function createResponseDefaults(pack: Pack, settings: ResponseSettings) {
  const { credentials, locate } = pack;
  const { client } = pack.dialect;
  const vary = [
    ...(credentials.client?.headers ?? []),
    ...(client.version ? [client.version.header ?? "Accept"] : []),
    ...Object.keys(client.headers?.request ?? {}).filter((name) => !/^if-/i.test(name)),
    ...(client.filters?.header === undefined ? [] : [client.filters.header]),
    ...settingsVary(settings),
  ];
  const upstreamPath = settings.UPSTREAM_URL?.pathname.replace(/\/$/, "");
  /** Headers that never change: caching, vary. */
  const headers: Readonly<Record<string, string>> = {
    "cache-control": "no-store",
    ...(vary.length > 0 && { vary: vary.join(", ") }),
  };
  return {
    headers,
    /** The header that contains the true status if a client always requests 200, in lower case. */
    statusHeader: client.always_ok?.response_header.toLowerCase(),
    /** `WWW-Authenticate` of responses with status 401 (RFC 9110, section 11.6.1). Undefined if they contain no challenge. */
    challenge: challengeOf(client.credentials),
    /** The response header that contains the upstream request, in lower case. Undefined if missing. */
    upstreamHeader: client.upstream_header?.toLowerCase(),
    /** The response header that contains the filter of the upstream request, in lower case. Undefined if missing. */
    upstreamFilterHeader: client.upstream_filter_header?.toLowerCase(),
    locate: (address: string, path: string) => locate(address, path, upstreamPath),
    /** The address before the path in absolute links. Empty if links are paths. */
    linkBase: readLinkBase(settings, pack),
    /** The prefix of the cursors that the gateway sends to clients. */
    cursorMark: settings.ROLLOUT_FILE !== undefined && hasOpaqueCursors(pack) ? CURSOR_MARK : "",
    /** Whether responses contain a `Server-Timing` header. */
    serverTiming: settings.SERVER_TIMING ?? false,
  };
}

/** Returns the challenge of a 401 by an authentication scheme (RFC 9110, section 11.6.1), if the pack defines a realm. */
const challengeOf = (credentials: ClientCredentialsDefinition | undefined): string | undefined => {
  const { realm } = credentials ?? {};
  const { scheme = "Basic" } =
    credentialPlaces(credentials).find((place) => place.scheme ?? place.basic) ?? {};
  return realm === undefined ? undefined : `${scheme} realm="${realm}"`;
};
