/** The request of `explain`, as the command line has it. */
import type { Command } from "commander";
import { isObject, parseJson } from "../../../base/index.ts";
import type { Pack } from "../../../pack/index.ts";
import { type DryRunRequest, isJsonType, typeOfFormat } from "../../../compare/index.ts";
import { splitCall } from "../../../authoring/index.ts";

/** The flags of a request. */
export interface RequestFlags {
  /** Lines, `Name: value`. */
  readonly header?: readonly string[];
  /** JSON or a form; with a media type in `header` that is not JSON, any text. */
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

/** A body as JSON; undefined for anything else. */
function tryParse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: parseJson(text) };
  } catch {
    return undefined;
  }
}

/**
 * A body and its media type. Without a type in the headers it is JSON, or a form where clients may send forms.
 *
 * @param sentType The media type in the headers. What is not JSON is sent as it is.
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
 * The request of a command line.
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
