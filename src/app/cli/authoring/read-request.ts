/** Reads the subject of `explain` from the command line: a request with the upstream's response, or a record. */
import { readFileSync } from "node:fs";
import { text as readStream } from "node:stream/consumers";
import type { Command } from "commander";
import { type AuditRecord, openExistingAuditStore, tryReadRecord } from "../../../audit/index.ts";
import { errorText, isObject, parseJson, type Settings } from "../../../base/index.ts";
import type { Pack } from "../../../pack/index.ts";
import { type DryRunRequest, isJsonType, typeOfFormat } from "../../../compare/index.ts";
import { splitCall } from "../../../authoring/index.ts";

/** The flags of a request. */
export interface RequestFlags {
  /** Header lines, `Name: value`. */
  readonly header?: readonly string[];
  /** JSON or a form. Any text if the media type in `header` is not JSON. */
  readonly data?: string;
}

function parseHeaders(lines: readonly string[], command: Command): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      if (colon < 1) command.error(`error: -H "${line}" is not "Name: value"`);
      return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
}

/** Parses a body as JSON; undefined for any other text. */
function tryParse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: parseJson(text) };
  } catch {
    return undefined;
  }
}

/**
 * Reads a body and its media type. If the headers contain no type, it is JSON, or a form if clients may send forms.
 *
 * @param sentType The media type in the headers. A body that is not JSON is sent unchanged.
 */
function readData(
  text: string,
  sentType: string | undefined,
  { mediaTypes }: Pack,
  command: Command,
): { readonly type: string | undefined; readonly body: unknown } {
  if (sentType !== undefined && !isJsonType(sentType)) return { type: sentType, body: text };
  const [json, form] = [typeOfFormat(mediaTypes, "json"), typeOfFormat(mediaTypes, "form")];
  const parsed = tryParse(text);
  if (parsed && (sentType ?? json) !== undefined) return { type: sentType ?? json, body: parsed.value };
  if (sentType !== undefined || form === undefined) return command.error("error: -d is not valid JSON");
  return isObject(parsed?.value)
    ? command.error("error: -d is JSON, and clients of the pack send forms, such as name=a&tags[]=b")
    : { type: form, body: text };
}

/**
 * Reads the request on a command line.
 *
 * @param call `GET /vm/instances?page=2`
 */
export function readRequest(
  call: string,
  { header = [], data }: RequestFlags,
  pack: Pack,
  command: Command,
): DryRunRequest {
  const sent = parseHeaders(header, command);
  const { type, body } =
    data === undefined
      ? { type: pack.mediaTypes.names[0], body: undefined }
      : readData(data, sent["content-type"], pack, command);
  const headers = { ...(type !== undefined && { "content-type": type }), ...sent };
  return { ...splitCall(call, pack.dialect.client.base_path), headers, body };
}

/** Reads a file, or standard input for `-`. */
const readInput = async (file: string, command: Command): Promise<string> => {
  try {
    return file === "-" ? await readStream(process.stdin) : readFileSync(file, "utf8");
  } catch (error) {
    return command.error(`error: ${file} can't be read: ${errorText(error)}`);
  }
};

/** Reads the upstream's response. @returns undefined if not found */
export async function readResponse(file: string | undefined, command: Command): Promise<Buffer | undefined> {
  if (file === undefined) return undefined;
  const text = await readInput(file, command);
  try {
    parseJson(text);
  } catch {
    return command.error("error: --response is not valid JSON");
  }
  return Buffer.from(text);
}

/** Finds a record. `-` reads it from standard input, in the form of `export` and of the admin API. */
export async function readRecord(
  id: string,
  { DATA_DIR, DATABASE_URL }: Settings,
  command: Command,
): Promise<AuditRecord> {
  if (id === "-") {
    const record = tryReadRecord((await readInput(id, command)).trim());
    return record ?? command.error("error: standard input is not one record as JSON");
  }
  const store = await openExistingAuditStore({ DATA_DIR, DATABASE_URL });
  try {
    const record = await store.get(id);
    return record ?? command.error(`error: "${id}" is neither a method and a path nor the id of a record`);
  } finally {
    await store.close();
  }
}
