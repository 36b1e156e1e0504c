import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import {
  createDryRun,
  type DryRunRequest,
  type DryRunResponse,
} from "../../../src/compare/dry-run/dry-run.ts";
import { withPack, type Edit } from "./pack-folder.ts";

/** A request that v4 got. */
export interface SentRequest {
  readonly call: string;
  readonly body: unknown;
}

/** The parsed response to a request, and the requests that v4 got. */
export interface LibraryResponse extends Pick<DryRunResponse, "context"> {
  readonly status: number;
  readonly body: unknown;
  readonly sent: readonly SentRequest[];
}

/** Changes of the library's pack: replaced texts, and files that are added. */
export interface PackChanges {
  readonly edits?: readonly Edit[];
  readonly files?: Readonly<Record<string, string>>;
  /** Whether catalogs are read before the request, as a gateway does. */
  readonly readsCatalogs?: boolean;
}

/**
 * Sends a request to the library's pack with changes in it.
 *
 * @param respond the status and body of each v4 response; by default 200 and an empty object
 */
export async function sendToLibrary(
  { edits = [], files = {}, readsCatalogs = false }: PackChanges,
  request: DryRunRequest,
  respond: (call: string) => readonly [status: number, body: unknown] = () => [200, {}],
): Promise<LibraryResponse> {
  const pack = withPack(edits, (folder) => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    return loadPack(folder);
  });
  const sent: SentRequest[] = [];
  const run = createDryRun(pack, {
    async call({ method, path, body }) {
      const call = `${method} ${path}`;
      sent.push({ call, body: body === undefined ? undefined : JSON.parse(body) });
      const [status, json] = respond(call);
      return { status, headers: {}, bytes: Buffer.from(JSON.stringify(json)), ms: 0 };
    },
    close: () => Promise.resolve(),
  });
  try {
    if (readsCatalogs) await run.catalogs.refresh();
    const { response, context } = await run.send(request);
    return { status: response.status, body: JSON.parse(response.body), sent, context };
  } finally {
    run.catalogs.stop();
  }
}
