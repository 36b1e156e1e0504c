/** The record of a request that the old service answered: its head, and the beginning of both bodies. */
import type { IncomingHttpHeaders } from "node:http";
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from "node:zlib";
import {
  type AuditRecord,
  isForm,
  NEEDLE_LENGTH,
  omittedBody,
  type RecordedBody,
  recordTime,
  type Redaction,
  type SecretValues,
} from "../../audit/index.ts";
import { isJson } from "../../base/index.ts";
import { usualTokenTexts } from "../../pack/index.ts";
import { isServed } from "../auth/known-senders.ts";
import { header, type AlphaRequest } from "../pipeline/request.ts";
import {
  beganAt,
  findSecrets,
  fingerprintOf,
  recordClient,
  recordHead,
  recordWarnings,
  unparsedTokens,
  type RecordOptions,
  type RequestSummary,
} from "./recorded-request.ts";
import type { NativeOutcome } from "./native-record.ts";

const JSON_TYPE = /^\s*(?:application|text)\/(?:[\w.+-]+\+)?json\b/i;
/** Services that call their JSON a text or HTML are old, and not rare. */
const TEXT_TYPE = /^\s*(?:text\/(?:plain|html|javascript)|application\/javascript)\b/i;

/** Whether a body of a type may be recorded. Of files, markup and multipart forms the type and the size are. */
const isRecordable = (type: string | undefined): boolean =>
  type === undefined ||
  JSON_TYPE.test(type) ||
  TEXT_TYPE.test(type) ||
  isForm({ type, bytes: Buffer.alloc(0) });

/** The first bytes of a body that streams by. */
export class BodyStart {
  readonly headers: IncomingHttpHeaders;
  /** Bytes of the whole body so far. */
  length = 0;
  readonly #limit: number;
  readonly #chunks: Buffer[] = [];
  #kept = 0;

  /** @param headers Those of its message. @param limit Bytes that are kept, as they were sent. */
  constructor(headers: IncomingHttpHeaders, limit: number) {
    this.headers = { ...headers };
    this.#limit = isRecordable(headers["content-type"]) ? limit : 0;
  }

  add(chunk: Buffer): void {
    this.length += chunk.length;
    const room = this.#limit - this.#kept;
    if (room <= 0) return;
    const kept = chunk.length <= room ? chunk : chunk.subarray(0, room);
    this.#chunks.push(kept);
    this.#kept += kept.length;
  }

  /** Whether all of its bytes are kept. */
  get isWhole(): boolean {
    return this.#kept === this.length;
  }

  get type(): string | undefined {
    return this.headers["content-type"];
  }

  /** Decodes what is kept. */
  async decode(limit = this.#limit): Promise<DecodedStart> {
    const bytes = Buffer.concat(this.#chunks);
    const { isWhole, type, length } = this;
    const encoding = this.headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
    if (encoding === "identity" || bytes.length === 0) return { bytes, isWhole, type, length };
    const decoder = DECODERS.get(encoding);
    if (!decoder) return { bytes: Buffer.alloc(0), isWhole: false, type, length };
    const decoded = await decodeStart(decoder(), bytes, limit);
    return {
      ...decoded,
      isWhole: decoded.isWhole && isWhole,
      type,
      length: isWhole && decoded.isWhole ? decoded.bytes.length : length,
    };
  }
}

/** The first bytes of a body without its content coding. */
export interface DecodedStart {
  readonly bytes: Buffer;
  /** Whether it is all of the body. */
  readonly isWhole: boolean;
  /** Its `Content-Type`. */
  readonly type: string | undefined;
  /** Bytes of the whole body; those that were sent where it could not be decoded to its end. */
  readonly length: number;
}

const GZIP = (): NodeJS.ReadWriteStream & { destroy(): void } =>
  createGunzip({ finishFlush: constants.Z_SYNC_FLUSH });

type Decoder = ReturnType<typeof GZIP>;

/** Each takes a body that is cut. */
const DECODERS: ReadonlyMap<string, () => Decoder> = new Map<string, () => Decoder>([
  ["gzip", GZIP],
  ["x-gzip", GZIP],
  ["deflate", () => createInflate({ finishFlush: constants.Z_SYNC_FLUSH })],
  ["br", () => createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH })],
  ["zstd", () => createZstdDecompress({ finishFlush: constants.ZSTD_e_flush })],
]);

/** Decodes until there are as many bytes as wanted: a small body may have been a gigabyte. */
async function decodeStart(
  decoder: Decoder,
  bytes: Buffer,
  limit: number,
): Promise<{ readonly bytes: Buffer; readonly isWhole: boolean }> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    decoder.end(bytes);
    for await (const chunk of decoder as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > limit) return { bytes: Buffer.concat(chunks).subarray(0, limit), isWhole: false };
    }
    return { bytes: Buffer.concat(chunks), isWhole: true };
  } catch {
    return { bytes: Buffer.concat(chunks), isWhole: false };
  } finally {
    decoder.destroy();
  }
}

/** Characters of a token that may be cut at the end of what is kept. */
const MARGIN = 128 * NEEDLE_LENGTH;

/** Bytes of a body that are kept for its record: a value that starts before the limit is complete. */
export const keptBytes = ({ maxSearched }: Redaction): number => maxSearched + MARGIN;

/** The start of some UTF-8 without an incomplete character at its end. */
function wholeCharacters(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (end > 0 && bytes.length - end < 3 && ((bytes[end - 1] ?? 0) & 0xc0) === 0x80) end -= 1;
  const lead = bytes[end - 1] ?? 0;
  return lead < 0xc0 ? bytes : bytes.subarray(0, end - 1);
}

/** What can be searched and recorded of a body: JSON and forms, whatever their type says. */
function readable(body: DecodedStart | undefined): Buffer | undefined {
  if (!body || body.bytes.length === 0) return undefined;
  const { type = "", isWhole } = body;
  const bytes = isWhole ? body.bytes : wholeCharacters(body.bytes);
  if (JSON_TYPE.test(type) || isForm({ type, bytes })) return bytes;
  return isWhole
    ? isJson(bytes)
      ? bytes
      : undefined
    : /^\s*[{[]/.test(bytes.toString("latin1", 0, 64))
      ? bytes
      : undefined;
}

/** A body as it is recorded; undefined without one. */
function recordBody(
  body: DecodedStart | undefined,
  redaction: Redaction,
  secrets: SecretValues,
): RecordedBody {
  if (!body || body.length === 0) return undefined;
  const { type, isWhole, length } = body;
  const bytes = readable(body);
  if (!bytes)
    return {
      streamed: { bytes: length, ...(type !== undefined && { type: redaction.text(type, secrets) }) },
    };
  if (!isWhole && isForm({ type, bytes })) return omittedBody(length, "a form that is too long");
  if (!isWhole) return redaction.start(bytes, length, secrets);
  return isJson(bytes) ? redaction.json(bytes, secrets) : redaction.body({ bytes, type }, secrets);
}

/** What the old service got, and what it answered. */
export interface LegacyBodies {
  readonly sent: DecodedStart | undefined;
  readonly received: DecodedStart | undefined;
  /** The head of the answer; undefined without one. */
  readonly headers: IncomingHttpHeaders | undefined;
}

function addBody(
  body: DecodedStart | undefined,
  headers: IncomingHttpHeaders | undefined,
  { redaction }: RecordOptions,
  secrets: SecretValues,
): void {
  // Of a longer body only the start is searched, as only that is recorded.
  const bytes = readable(body)?.subarray(0, redaction.maxSearched);
  const searched = bytes && { bytes: wholeCharacters(bytes), type: body?.type };
  redaction.addFrom({ path: "", isRoute: false, query: "", texts: [], headers, body: searched }, secrets);
}

/** Bytes of a body that is recorded of a rejected request of a stranger. */
const LONGEST_BODY_WITHOUT_TOKEN = 1024;

/** Who has sent a request to the old service, and the pack's route of it. */
export interface LegacySender {
  readonly hash: string | undefined;
  /** Whether the old service has accepted the token, in this request or before. */
  readonly isAccepted: boolean;
  readonly route: string | null;
  /** Guesses the route of an API without a pack. @param path Without secrets. */
  readonly guessRoute?: ((path: string) => string | null) | undefined;
}

/** The record of a request that the old service answered. It is a call of the client's API, without a call of v4. */
export function createLegacyRecord(
  request: AlphaRequest,
  outcome: NativeOutcome,
  sender: LegacySender,
  bodies: LegacyBodies,
  options: RecordOptions,
): AuditRecord {
  const { hash, isAccepted, route, guessRoute } = sender;
  const { redaction } = options;
  const tokens = [...unparsedTokens(request, options), ...usualTokenTexts(request)];
  const secrets = findSecrets(request, route, undefined, tokens, options);
  addBody(bodies.sent, undefined, options, secrets);
  addBody(bodies.received, bodies.headers, options, secrets);
  // Whoever is not served can send anything at no cost.
  const isTrusted = isAccepted || isServed(outcome.v4Status ?? 0);
  const isBodyRecorded =
    options.bodies && (isTrusted || (bodies.sent?.length ?? 0) <= LONGEST_BODY_WITHOUT_TOKEN);
  const create = (): AuditRecord => {
    const body = isBodyRecorded ? recordBody(bodies.sent, redaction, secrets) : undefined;
    // A list with a secret in each row must not hide what was called.
    const pathSecrets = guessRoute && !secrets.isComplete ? secrets.tokensOnly() : secrets;
    const response = options.bodies ? recordBody(bodies.received, redaction, secrets) : undefined;
    return {
      ...summarizeLegacyRequest(request, outcome, sender),
      id: options.newId(),
      time: recordTime(beganAt(request)),
      requestId: secrets.conceal(request.id),
      client: recordClient(request, { hash, application: undefined, isAccepted }, secrets, options),
      alpha: {
        ...recordHead(request, route, isTrusted, secrets, options, pathSecrets),
        route,
        ...(body !== undefined && { body }),
        status: outcome.status,
        ...(response !== undefined && { response }),
      },
      v4: [],
      warnings: recordWarnings(outcome.warnings, secrets),
      bytes: { in: outcome.bytesIn, out: outcome.bytesOut },
      ...(outcome.rejectedBy !== undefined && { rejectedBy: outcome.rejectedBy }),
    };
  };
  const { size, isComplete } = secrets;
  const first = create();
  // A body may have had secrets that are also in what was redacted before it.
  const record = secrets.size === size && secrets.isComplete === isComplete ? first : create();
  if (!guessRoute) return record;
  return { ...record, alpha: { ...record.alpha, route: guessRoute(record.alpha.path) } };
}

/** The summary of such a request without a record. */
export function summarizeLegacyRequest(
  request: AlphaRequest,
  { status, v4Status, warnings, ms }: NativeOutcome,
  { hash, route }: LegacySender,
): RequestSummary {
  return {
    lane: "legacy",
    requestId: request.id,
    client: { fingerprint: fingerprintOf(hash) },
    alpha: { method: request.method, route, status },
    v4: [],
    losses: [],
    warnings,
    timings: { total: ms, upstream: typeof v4Status === "number" ? ms : 0, translation: 0 },
  };
}

/** The headers of a request that its body needs. */
export const bodyHeadersOf = (request: AlphaRequest): IncomingHttpHeaders => ({
  "content-type": header(request, "content-type"),
  "content-encoding": header(request, "content-encoding"),
});
