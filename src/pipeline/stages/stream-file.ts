import { pipeline } from "node:stream";
import { HttpError } from "../../dialect/http-error.ts";
import type { Endpoint } from "../../mapping/compile/endpoint.ts";
import type { FileRule } from "../../mapping/compile/route.ts";
import { buildResponse, throwTranslatedError, InvalidUpstreamResponseError } from "./build-response.ts";
import { countBytes, type UpstreamFileRequest } from "./file-streamer.ts";
import { header, type AlphaRequest, type FileResponse, type RequestContext } from "../context.ts";
import { requestWithoutBody, type RouteExecution } from "../route-context.ts";

/** `image/png`, of `image/png; q=1`; a rule may end in `/*`. */
function isOfType(given: string | undefined, wanted: string): boolean {
  const type = (given ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return wanted.endsWith("/*") ? type.startsWith(wanted.slice(0, -1)) : type === wanted;
}

/**
 * The file that a client sends, looked at no further than its head.
 *
 * @throws {HttpError} 400 for another type, for a coding, and for one that says it is too long
 */
function fileIn(
  request: AlphaRequest,
  { type, most }: FileRule,
  notes: RequestContext,
): UpstreamFileRequest["file"] {
  const [given, length] = [header(request, "content-type"), header(request, "content-length")];
  if (!isOfType(given, type)) throw new HttpError(400, `The body must be ${type}.`);
  const coding = header(request, "content-encoding") ?? "identity";
  if (coding.toLowerCase() !== "identity")
    throw new HttpError(400, "The Content-Encoding of the body is not supported.");
  if (Number(length ?? 0) > most) throw new HttpError(400, "The body is too large.");
  if (!request.openUpload) throw new HttpError(400, "The body is missing.");
  const stream = countBytes(most, (count) => {
    if (notes.streamedBytes) notes.streamedBytes.in += count;
  });
  pipeline(request.openUpload(), stream, () => {});
  const headers = {
    "content-type": given ?? type,
    ...(length !== undefined && { "content-length": length }),
  };
  return { headers, stream };
}

/**
 * Carries a file to v4, or back from it, as it comes.
 *
 * @throws {HttpError} what alpha refuses of it, and what v4 refused; {UnreadableAnswer} where v4 gives something else
 */
export async function streamFile(
  endpoint: Endpoint,
  work: RouteExecution,
): Promise<string | Buffer | FileResponse> {
  const { match: target, request, translation: rules, context: notes, catalogs } = work;
  const { route, parameters } = target;
  const path = endpoint.path(parameters);
  notes.upstreamEquivalent = `${endpoint.method} ${path}`;
  const file = route.upload && fileIn(request, route.upload, notes);
  const accept = route.file?.type ?? "application/json";
  const back = await work.streamFile(
    { method: endpoint.method, path, accept, file },
    route.file !== undefined,
  );
  if ("refused" in back)
    return throwTranslatedError(back.refused, route, requestWithoutBody(endpoint, parameters), rules, notes);
  if ("done" in back) return buildResponse(back.done, route, { catalogs, related: {} }, rules);
  if (route.file && isOfType(back.file.type, route.file.type)) return back.file;
  back.file.stream.destroy();
  throw new InvalidUpstreamResponseError(`v4's file is of type ${back.file.type}`);
}
