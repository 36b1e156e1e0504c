import type { Command } from "commander";
import { HttpError, loadPack, packFolder } from "../../../pack/index.ts";
import { renderScript, type Settings } from "../../../base/index.ts";
import { createDryRun, type DryRunResponse } from "../../../compare/index.ts";
import { isCall } from "../../../authoring/index.ts";
import { findInvalidIds, type HttpRequest } from "../../../gateway/index.ts";
import { createEmptyV4, withoutAnswers } from "./empty-upstream.ts";
import type { Explanation } from "./explained-calls.ts";
import { isRejected, outlineExplanation } from "./outline-explanation.ts";
import { readRequest, type RequestFlags } from "./read-request.ts";
import { print } from "../terminal.ts";

export interface ExplainFlags extends RequestFlags {
  /** Whether to print how the expressions of the pack are evaluated. */
  readonly trace?: true;
  /** For `trace`: a file with the upstream's response, `-` for standard input. */
  readonly response?: string;
}

/** Returns the values for the upstream's paths. If the request could not be translated, its error is explained instead. */
async function readValues({
  context: { match, sent, time },
  exchange: { request },
}: DryRunResponse): Promise<Pick<Explanation, "parameters" | "unsentIds">> {
  if (!match || !sent) return { parameters: {}, unsentIds: [] };
  const { route, parameters } = match;
  try {
    return {
      parameters: (await route.writeParameters?.(parameters)) ?? parameters,
      unsentIds: await findInvalidIds({ ...sent, match, time, request }),
    };
  } catch (error) {
    if (error instanceof HttpError) return { parameters, unsentIds: [] };
    throw error;
  }
}

/**
 * Runs `alpha-gateway explain`.
 *
 * @param call the request, `GET /vm/instances?page=2`
 * @returns the exit code: 1 if the gateway rejects the request
 */
export async function explain(
  call: string,
  flags: ExplainFlags,
  { MAPPINGS_DIR, WORDS }: Settings,
  command: Command,
): Promise<number> {
  if (flags.response !== undefined) command.error("error: --response belongs to --trace");
  if (!isCall(call))
    command.error(`error: "${call}" is not a method and a path; white space in a query is written as %20`);
  const pack = loadPack(packFolder(MAPPINGS_DIR), WORDS);
  const request = readRequest(call, flags, pack, command);
  const sent: HttpRequest[] = [];
  const dryRun = createDryRun(withoutAnswers(pack), createEmptyV4(pack, request, sent));
  const result = await dryRun.send(request);
  const explanation = { call, sent, result, pack, ...(await readValues(result)) };
  print(renderScript(outlineExplanation(explanation)));
  return isRejected(explanation) ? 1 : 0;
}
