/** The parts of a client's request that every audit record has, without secret values. */
import {
  type AuditRecord,
  createRecordIds,
  firstCharacters,
  Redaction,
  type SecretValues,
  type SentBody,
} from "../../audit/index.ts";
import { fingerprint } from "../auth/token-cache.ts";
import { type Pack, secretsBehindScheme, usualTokenTexts } from "../../pack/index.ts";
import { type AlphaRequest, header } from "../request/request.ts";
import type { Settings } from "../../base/index.ts";

export interface RecordOptions {
  readonly newId: () => string;
  readonly redaction: Redaction;
  /** False: no bodies (AUDIT=metadata). */
  readonly bodies: boolean;
  /** Where tokens are, so that the texts around them are redacted as well. */
  readonly credentials: Pack["credentials"];
  /** Undefined if clients have no filters. */
  readonly filterHeader: string | undefined;
  readonly packHash: string;
  /** The names that clients may send to a route, by the name of the route. */
  readonly sentNames: Pack["sentNames"];
  /** The possible losses of a route, by the name of the route. */
  readonly lossNames: Pack["lossNames"];
  readonly grammar: Pack["grammar"];
}

/** The parts of a record that the metrics, the log and the trace use. */
export type RequestSummary = Pick<AuditRecord, "lane" | "requestId" | "losses" | "warnings" | "timings"> & {
  /** The id of the record, if there is one. */
  readonly id?: string;
  readonly client: Pick<AuditRecord["client"], "fingerprint">;
  readonly alpha: Pick<AuditRecord["alpha"], "method" | "route" | "status">;
  readonly v4: readonly Pick<AuditRecord["v4"][number], "status">[];
};

/** Milliseconds in steps of a microsecond. More digits are noise, which takes time to print and can't be compressed. */
export const roundMs = (ms: number): number => Math.round(ms * 1000) / 1000;

/** When a request began, in whole milliseconds since the epoch, however long after its end this is asked. */
export const beganAt = ({ startedAt }: AlphaRequest): number =>
  Math.floor(Date.now() - (performance.now() - startedAt));

/** Characters of a recorded `User-Agent`. A longer one does not name a program. */
const MAX_AGENT_LENGTH = 512;

/** Characters of a path, a query and a filter if v4 has not accepted the token, since anybody can send such requests. */
const MAX_LENGTH_WITHOUT_TOKEN = 1024;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Node decodes the bytes of a head as Latin-1, but clients send UTF-8. */
function asUtf8(text: string): string {
  if (!/[\x80-\xff]/.test(text)) return text;
  try {
    return utf8.decode(Buffer.from(text, "latin1"));
  } catch {
    return text;
  }
}

function headerText(request: AlphaRequest, name: string): string | undefined {
  const text = header(request, name);
  return text === undefined ? undefined : asUtf8(text);
}

/** The placeholder of a token in records. */
export const fingerprintOf = (hash: string | undefined): string | null =>
  hash === undefined ? null : fingerprint(hash);

/** A scheme and a token without separators, as nearly all clients send them. */
const ONE_TOKEN = /^\S+ +([\w.~+/-]{8,})$/;

/** All parts of a line of credentials that may be a token: the whole line, the part after the scheme, and each word. */
function possibleTokens(line: string): string[] {
  const text = line.trim();
  const token = ONE_TOKEN.exec(text)?.[1];
  const secrets = secretsBehindScheme(text);
  return token === undefined
    ? [text, text.replace(/^\S+ +/, ""), ...text.split(/[\s,;="]+/), ...secrets]
    : [token, ...secrets];
}

/** Possible tokens of a request whose credentials were not parsed. */
export const unparsedTokens = (
  request: AlphaRequest,
  { credentials: { client } }: Pick<RecordOptions, "credentials">,
): string[] =>
  [...(request.headers["authorization"] ?? []), ...(client?.texts(request) ?? [])].flatMap(possibleTokens);

/**
 * Whether the id of a request has one of the secret values of its head: wherever the id is logged and traced, they would be
 * with it. The path is left out, whose ids are no secrets.
 */
export function isSecretId(
  request: AlphaRequest,
  options: Pick<RecordOptions, "credentials" | "redaction">,
): boolean {
  const { client } = options.credentials;
  const found = client?.read(request);
  const tokens = [
    ...unparsedTokens(request, options),
    ...usualTokenTexts(request),
    ...(found && "token" in found ? (client?.spellings?.(found.token) ?? []) : []),
  ];
  const { headers } = request;
  const sent = { path: "", isRoute: true, query: asUtf8(request.query), texts: [], headers };
  return options.redaction.find(sent, tokens).redact(request.id) !== request.id;
}

/** Finds the secret values of a request: its tokens, and the values of secret names. */
export function findSecrets(
  request: AlphaRequest,
  route: string | null,
  body: SentBody | undefined,
  tokens: readonly (string | undefined)[],
  { redaction, filterHeader }: RecordOptions,
): SecretValues {
  const texts = [headerText(request, "user-agent"), headerText(request, filterHeader?.toLowerCase() ?? "")];
  const [path, query] = [asUtf8(request.path), asUtf8(request.query)];
  const { headers } = request;
  return redaction.find({ path, isRoute: route !== null, query, texts, headers, body }, tokens);
}

/** The texts without the secret values. */
export const redactAll = (texts: readonly string[], secrets: SecretValues): readonly string[] =>
  texts.map((text) => secrets.redact(text));

/** The warnings of a record. One of them says why the texts of the client are not recorded, if they are not. */
export const recordWarnings = (texts: readonly string[], secrets: SecretValues): readonly string[] => {
  const { whyIncomplete } = secrets;
  const recorded = redactAll(texts, secrets);
  return whyIncomplete === undefined
    ? recorded
    : [...recorded, `audit: the record has no texts of the client: ${whyIncomplete}`];
};

/** Characters of a recorded id of an application. */
const MAX_APPLICATION_LENGTH = 256;

/** The sender of a request. */
export interface RecordedSender {
  readonly hash: string | undefined;
  readonly application: string | undefined;
  /** Whether v4 has accepted the token, or the login server has accepted the application. */
  readonly isAccepted: boolean;
}

/** The names of the sender, without secret values: anybody can send anything as the id of an application. */
const senderNames = (
  { label }: Pick<AlphaRequest, "label">,
  application: string | undefined,
  secrets: SecretValues,
): Pick<AuditRecord["client"], "application" | "label"> => ({
  ...(application !== undefined && {
    application: firstCharacters(secrets.redact(application), MAX_APPLICATION_LENGTH),
  }),
  ...(label !== undefined && { label: secrets.redact(label) }),
});

export function recordClient(
  request: AlphaRequest,
  { hash, application, isAccepted }: RecordedSender,
  secrets: SecretValues,
  { redaction }: RecordOptions,
): AuditRecord["client"] {
  const agent = headerText(request, "user-agent");
  return {
    fingerprint: fingerprintOf(hash),
    ...((hash !== undefined || application !== undefined) && { accepted: isAccepted }),
    ...senderNames(request, application, secrets),
    userAgent: agent === undefined ? null : firstCharacters(redaction.text(agent, secrets), MAX_AGENT_LENGTH),
    address: request.address,
  };
}

/** The head of a request in its record. */
export type RecordedHead = Pick<AuditRecord["alpha"], "method" | "path" | "query" | "filter">;

/** @param isAccepted whether v4 has accepted the token. @param pathSecrets the secret values of the path, where they differ */
export function recordHead(
  request: AlphaRequest,
  route: string | null,
  isAccepted: boolean,
  secrets: SecretValues,
  { redaction, filterHeader }: RecordOptions,
  pathSecrets = secrets,
): RecordedHead {
  const maxLength = isAccepted ? Infinity : MAX_LENGTH_WITHOUT_TOKEN;
  const filter = headerText(request, filterHeader?.toLowerCase() ?? "");
  return {
    method: request.method,
    path: firstCharacters(redaction.path(asUtf8(request.path), route !== null, pathSecrets), maxLength),
    query: firstCharacters(redaction.query(asUtf8(request.query), secrets), maxLength),
    filter: filter === undefined ? null : firstCharacters(redaction.text(filter, secrets), maxLength),
  };
}

/** Segments of the paths that the pack's routes have, and of the calls that they make. */
function literalsOf({ routes, dialect }: Pack): ReadonlySet<string> {
  const templates = routes.flatMap(({ name, source, calls }) => [
    name.slice(name.indexOf(" ") + 1),
    ...("call" in source ? [source.call.template] : []),
    ...calls.map(({ endpoint }) => endpoint.template),
  ]);
  const { oauth, client, upstream } = dialect;
  const prefixes = [client.base_path, upstream.base_path];
  const login = oauth
    ? [oauth.authorize, oauth.token, oauth.revoke, oauth.logout].flatMap(({ client: from, upstream: to }) => [
        from,
        to,
      ])
    : [];
  const segments = [...templates, ...prefixes, ...login].flatMap((path) => path.split("/"));
  return new Set(segments.filter((segment) => segment !== "" && !/[:{]/.test(segment)));
}

/** The options of the records of a pack's requests. */
export const createRecordOptions = (
  pack: Pack,
  settings: Pick<Settings, "AUDIT" | "AUDIT_BODY_LIMIT">,
): RecordOptions => ({
  newId: createRecordIds(),
  redaction: createRedaction(pack, settings),
  bodies: settings.AUDIT === "full",
  credentials: pack.credentials,
  filterHeader: pack.dialect.client.filters?.header,
  packHash: pack.hash,
  sentNames: pack.sentNames,
  lossNames: pack.lossNames,
  grammar: pack.grammar,
});

/** Creates the redaction of the recorded parts of a pack's requests. */
export const createRedaction = (
  pack: Pack,
  { AUDIT_BODY_LIMIT: bodyLimit }: Pick<Settings, "AUDIT_BODY_LIMIT">,
): Redaction => new Redaction({ names: pack.secretNames, bodyLimit, literals: literalsOf(pack) });
