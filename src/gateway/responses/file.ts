import { pipeline } from "node:stream";
import { type Endpoint, type FileRule, HttpError } from "../../pack/index.ts";
import type { AuthorizedRequest, ResponseKind } from "../request/authorized-request.ts";
import { header } from "../request/request.ts";
import { buildWithoutBody, endpointOf } from "../stages/build-request.ts";
import { throwTranslatedError } from "../calls/translate-error.ts";
import { countBytes, type FileRequest, type StreamedResponse } from "../calls/file-stream.ts";
import { requestWithoutBody, type PreparedRequest } from "../calls/prepared-request.ts";
import { InvalidUpstreamResponseError } from "../calls/upstream-response.ts";
import { translateObject } from "../calls/translate-response.ts";

/** Whether a `Content-Type` (`image/png; q=1`) has a type. The type may end in `/*`. */
function isOfType(contentType: string | undefined, wanted: string): boolean {
  const type = (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return wanted.endsWith("/*") ? type.startsWith(wanted.slice(0, -1)) : type === wanted;
}

/**
 * Opens the file that a client sends. Only its headers are checked.
 *
 * @throws {HttpError} 400 for a different type, a coding, and a declared length above the limit
 */
function openUpload(
  { request, upstream: { activity } }: AuthorizedRequest,
  { content_type: type, max_bytes: most }: FileRule,
): NonNullable<FileRequest["upload"]> {
  const [contentType, length] = [header(request, "content-type"), header(request, "content-length")];
  if (!isOfType(contentType, type)) throw new HttpError(400, `The body must be ${type}.`);
  const coding = header(request, "content-encoding") ?? "identity";
  if (coding.toLowerCase() !== "identity")
    throw new HttpError(400, "The Content-Encoding of the body is not supported.");
  if (Number(length ?? 0) > most) throw new HttpError(400, "The body is too large.");
  if (!request.openUpload) throw new HttpError(400, "The body is missing.");
  const stream = countBytes(most, (count) => {
    if (activity.streamedBytes) activity.streamedBytes.in += count;
  });
  pipeline(request.openUpload(), stream, () => {});
  const headers = {
    "content-type": contentType ?? type,
    ...(length !== undefined && { "content-length": length }),
  };
  return { headers, stream };
}

/**
 * Checks the client's token with a small v4 read: otherwise a client with invented tokens could keep all connections
 * for files busy by sending slowly. v4 may deny the read itself (403).
 *
 * @throws {HttpError} v4's error, translated
 */
async function verifyToken(endpoint: Endpoint, authorized: AuthorizedRequest): Promise<void> {
  const { match, upstream } = authorized;
  const prepared = requestWithoutBody(endpoint, {});
  const response = await upstream.call(prepared);
  if (!response.success && response.status !== 403)
    throwTranslatedError(response, match.route, prepared, authorized);
}

/** Streams a file to v4, or from it. @throws {HttpError} for a file that alpha rejects, and v4's error */
async function streamFile(
  prepared: PreparedRequest,
  authorized: AuthorizedRequest,
): Promise<StreamedResponse> {
  const { match, token, upstream, services } = authorized;
  const { route } = match;
  const { tokenCheck } = services.pack;
  if (route.upload && tokenCheck && token.info?.refused !== false) await verifyToken(tokenCheck, authorized);
  const result = await upstream.stream({
    method: prepared.method,
    path: prepared.path,
    accept: route.file?.content_type ?? "application/json",
    upload: route.upload && openUpload(authorized, route.upload),
    wantsFile: route.file !== undefined,
  });
  if (!result.file && !result.response.success)
    throwTranslatedError(result.response, route, prepared, authorized);
  return result;
}

/** Routes that stream a file from the client, or from v4. */
export const fileKind: ResponseKind<StreamedResponse> = {
  buildRequest: async (authorized) => buildWithoutBody(endpointOf(authorized.match.route), authorized),
  callUpstream: streamFile,
  buildResponse(result, _prepared, authorized) {
    const { match, services } = authorized;
    const { route } = match;
    if (!result.file) {
      const reading = { head: authorized, catalogs: services.catalogs, calls: {} };
      return translateObject(result.response, route, reading);
    }
    if (route.file && isOfType(result.file.type, route.file.content_type)) return result.file;
    result.file.stream.destroy();
    throw new InvalidUpstreamResponseError(`the file of the response is of type ${result.file.type}`);
  },
};
