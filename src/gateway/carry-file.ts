import { pipeline } from "node:stream";
import { Refusal } from "../dialect/refusal.ts";
import type { Endpoint } from "../mapping/endpoint.ts";
import type { FileRule } from "../mapping/route.ts";
import { answerBack, refuseLikeV4, UnreadableAnswer } from "./answer-back.ts";
import { counted, type OutgoingFile } from "./carry-v4.ts";
import { header, type AlphaRequest, type FileAnswer, type Notes } from "./exchange.ts";
import { plainCall, type Work } from "./work.ts";

/** `image/png`, of `image/png; q=1`; a rule may end in `/*`. */
function isOfType(given: string | undefined, wanted: string): boolean {
  const type = (given ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return wanted.endsWith("/*") ? type.startsWith(wanted.slice(0, -1)) : type === wanted;
}

/**
 * The file that a client sends, looked at no further than its head.
 *
 * @throws {Refusal} 400 for another type, for a coding, and for one that says it is too long
 */
function fileIn(request: AlphaRequest, { type, most }: FileRule, notes: Notes): OutgoingFile["file"] {
  const [given, length] = [header(request, "content-type"), header(request, "content-length")];
  if (!isOfType(given, type)) throw new Refusal(400, `The body must be ${type}.`);
  const coding = header(request, "content-encoding") ?? "identity";
  if (coding.toLowerCase() !== "identity")
    throw new Refusal(400, "The Content-Encoding of the body is not supported.");
  if (Number(length ?? 0) > most) throw new Refusal(400, "The body is too large.");
  if (!request.upload) throw new Refusal(400, "The body is missing.");
  const stream = counted(most, (count) => {
    if (notes.carried) notes.carried.in += count;
  });
  pipeline(request.upload, stream, () => {});
  const headers = {
    "content-type": given ?? type,
    ...(length !== undefined && { "content-length": length }),
  };
  return { headers, stream };
}

/**
 * Carries a file to v4, or back from it, as it comes.
 *
 * @throws {Refusal} what alpha refuses of it, and what v4 refused; {UnreadableAnswer} where v4 gives something else
 */
export async function carryFile(endpoint: Endpoint, work: Work): Promise<string | Buffer | FileAnswer> {
  const { target, request, rules, notes, catalogs } = work;
  const { route, parameters } = target;
  const path = endpoint.path(parameters);
  notes.equivalent = `${endpoint.method} ${path}`;
  const file = route.takes && fileIn(request, route.takes, notes);
  const accept = route.file?.type ?? "application/json";
  const back = await work.carry({ method: endpoint.method, path, accept, file }, route.file !== undefined);
  if ("refused" in back)
    return refuseLikeV4(back.refused, route, plainCall(endpoint, parameters), rules, notes);
  if ("done" in back) return answerBack(back.done, route, { catalogs, with: {} }, rules);
  if (route.file && isOfType(back.file.type, route.file.type)) return back.file;
  back.file.stream.destroy();
  throw new UnreadableAnswer(`v4's file is of type ${back.file.type}`);
}
