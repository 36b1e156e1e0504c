/** Reads the calls of an HTTP Archive (HAR 1.2), which browsers and proxies write. */
import { z } from "zod";
import { fingerprint, tokenHash } from "../../gateway/index.ts";
import type { ClientDirectory, ClientIdentity } from "../../audit/index.ts";
import { findUsualToken } from "../../pack/index.ts";
import { clientOf, type ObservedCall } from "./observed-call.ts";

/** The file is not an HTTP Archive. The message contains the problem. */
class InvalidHarError extends Error {
  override readonly name = "InvalidHarError";
  readonly code = "AG_HAR_INVALID";
}

/** Maximum number of characters, because the whole file is read into memory. */
const MAX_LENGTH = 256 * 1024 * 1024;
const MAX_ENTRIES = 1_000_000;

const text = z.string().max(MAX_LENGTH);
const pairs = z.array(z.looseObject({ name: text, value: text.optional() })).max(10_000);

/** The members of an entry that are used. Further members are accepted. */
const entrySchema = z.looseObject({
  request: z.looseObject({
    method: z.string().regex(/^[A-Z]+$/i),
    url: text,
    headers: pairs.default([]),
    postData: z
      .looseObject({ mimeType: text.optional(), text: text.optional(), params: pairs.optional() })
      .nullish(),
  }),
  response: z.looseObject({ status: z.int().nullish() }).nullish(),
  /** In an archive that this program exported: `v4` for calls of the gateway itself. */
  _dialect: z.string().optional(),
  /** In an archive that this program exported: the sender of the call. Credentials are never exported. */
  _client: z.string().nullable().optional(),
  _application: z.string().optional(),
  _label: z.string().optional(),
});

const harSchema = z.looseObject({ log: z.looseObject({ entries: z.array(z.unknown()).max(MAX_ENTRIES) }) });

type Entry = z.infer<typeof entrySchema>;

/** Matches the start of an archive: an object, whose first member is usually the only one. */
const HAR_START = /^\uFEFF?\s*\{\s*"log"\s*:/;

/** Whether a text is the start of an archive. */
export const isHar = (start: string): boolean => HAR_START.test(start);

async function readWhole(chunks: AsyncIterable<string>): Promise<string> {
  const parts: string[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > MAX_LENGTH)
      throw new InvalidHarError(
        `The archive is larger than ${MAX_LENGTH / 1024 / 1024} MB. Export fewer calls, or leave out the contents of responses.`,
      );
    parts.push(chunk);
  }
  return parts.join("").replace(/^\uFEFF/, "");
}

function parseArchive(archive: string): readonly unknown[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(archive);
  } catch {
    throw new InvalidHarError("The archive is not valid JSON: it may be incomplete.");
  }
  const { success, data } = harSchema.safeParse(parsed);
  if (!success) throw new InvalidHarError('The archive has no list "log.entries".');
  return data.log.entries;
}

/** Returns headers by their lower-case names, without HTTP/2's pseudo-headers. */
function headersOf({ request: { headers } }: Entry): Record<string, readonly string[]> {
  const named: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  for (const { name, value = "" } of headers)
    if (!name.startsWith(":")) (named[name.toLowerCase()] ??= []).push(value);
  return named;
}

/** Matches headers about the connection, the encoding of the body, or the client's token. */
const LEFT_OUT =
  /^(?:authorization|cookie|host|connection|content-length|content-encoding|transfer-encoding)$/;

function bodyOf({ postData }: Entry["request"]): Pick<ObservedCall, "body" | "missingBody"> {
  if (!postData) return {};
  const { mimeType = "", text: sent, params } = postData;
  if (sent !== undefined && sent !== "") {
    if (!/json/i.test(mimeType) && mimeType !== "") return { body: sent };
    try {
      return { body: JSON.parse(sent) as unknown };
    } catch {
      return { missingBody: "its body is neither JSON nor a form" };
    }
  }
  if (params === undefined || params.length === 0) return {};
  if (/multipart/i.test(mimeType)) return { missingBody: "its body is a multipart form" };
  const form = new URLSearchParams();
  for (const { name, value = "" } of params) form.append(name, value);
  return { body: form.toString() };
}

/** Returns the sender of a call: from the archive, otherwise from the token. */
function identityOf(
  { _client, _application: application, _label: label }: Entry,
  headers: Readonly<Record<string, readonly string[]>>,
  query: string,
): ClientIdentity {
  const userAgent = headers["user-agent"]?.[0] ?? null;
  if (_client !== undefined) return { fingerprint: _client, application, label, userAgent };
  const token = findUsualToken({ headers, query });
  return { fingerprint: token === undefined ? null : fingerprint(tokenHash(token)), userAgent };
}

/** Returns why an entry proves nothing about the pack. If there is no response, browsers write the status 0. */
function skippedFor({ response }: Entry): string | undefined {
  const status = response?.status ?? 0;
  if (status <= 0) return "it got no response";
  return status >= 400 ? "the old service answered with an error" : undefined;
}

/** Options for reading an archive. */
export interface HarOptions {
  readonly directory: ClientDirectory;
  /** The old API's header that contains filters. */
  readonly filterHeader: string | undefined;
  /** Selects calls to this address, whose path is removed. Undefined: all calls. */
  readonly base: URL | undefined;
}

/** Returns the path and the query below an address; undefined for a different address. */
function targetBelow(url: string, base: URL | undefined): { path: string; query: string } | undefined {
  if (!/^https?:/i.test(url) || !URL.canParse(url)) return undefined;
  const { origin, pathname, search } = new URL(url);
  const prefix = base?.pathname.replace(/\/$/, "") ?? "";
  if (base && origin !== base.origin) return undefined;
  if (pathname !== prefix && !pathname.startsWith(`${prefix}/`)) return undefined;
  return { path: pathname.slice(prefix.length) || "/", query: search.slice(1) };
}

/**
 * Reads the calls of an archive. Requests that were not sent to a server, such as `data:` addresses, are omitted.
 *
 * @throws {InvalidHarError}
 */
export async function* readHar(
  chunks: AsyncIterable<string>,
  { directory, filterHeader, base }: HarOptions,
): AsyncGenerator<ObservedCall> {
  for (const [index, given] of parseArchive(await readWhole(chunks)).entries()) {
    const { success, data: entry } = entrySchema.safeParse(given);
    if (!success) throw new InvalidHarError(`Entry ${index + 1} of the archive is not a request.`);
    const target = targetBelow(entry.request.url, base);
    if (!target || entry._dialect === "v4") continue;
    const lines = headersOf(entry);
    const headers = Object.fromEntries(
      Object.entries(lines).flatMap(([name, [value = ""]]) => (LEFT_OUT.test(name) ? [] : [[name, value]])),
    );
    const type = entry.request.postData?.mimeType;
    yield {
      id: `entry ${index + 1}`,
      client: clientOf(identityOf(entry, lines, target.query), directory),
      provenBy: "archive",
      isProven: true,
      isArchived: true,
      method: entry.request.method.toUpperCase(),
      ...target,
      headers: { ...headers, ...(type && { "content-type": type }) },
      filter: lines[filterHeader?.toLowerCase() ?? ""]?.[0] ?? null,
      ...bodyOf(entry.request),
      // Browsers remove credentials from exports.
      hasToken: entry._client !== null,
      skipped: skippedFor(entry),
      count: 1,
    };
  }
}
