/** Translates the text of v4's successful response to alpha's JSON. */
import { HttpError, OutputBuffer, type ReadContext, type Route, writeList } from "../../pack/index.ts";
import { checkJson, type Cursor, cursorAt, expectEnd, isObjectAt } from "../../base/index.ts";
import { awaitAll, ignoreRejections, type MaybePromise } from "../../jsonata/index.ts";
import {
  InvalidUpstreamResponseError,
  objectAt,
  openListBody,
  readJsonOf,
  type UpstreamResponse,
} from "./upstream-response.ts";

/** Whether an empty body means that there is no object: after a write. An empty response to a read is invalid. */
const isWrite = ({ source, search }: Route): boolean =>
  !search && (!("call" in source) || source.call.method !== "GET");

/** Throws the error of a route for which an empty body means "not found". */
function checkEmpty({ empty }: Route): void {
  if (empty !== undefined) throw new HttpError(400, empty);
}

/**
 * Translates an object. The result is `{}` for a route without a response. After a write without a response body, the
 * object contains its constants and values of the request, unless a field comes from the upstream's object.
 *
 * @throws {InvalidUpstreamResponseError} if the response is not an object; {HttpError} if an empty body means "not
 *   found"
 */
export async function translateObject(
  response: UpstreamResponse,
  route: Route,
  reading: ReadContext,
): Promise<string> {
  if (response.bytes.length === 0) {
    checkEmpty(route);
    if (route.response === "none") return "{}";
    if (isWrite(route)) return route.readEmpty(reading);
  } else if (route.response === "none") {
    if (response.isValidJson !== true) readJsonOf(response, () => checkJson(response.bytes));
    response.isValidJson = true;
    return "{}";
  }
  return readObject(response, route, reading);
}

/** Reads an object from start to end, as {@link openListBody} reads a list. Invalid JSON is found during the read. */
function readObject(response: UpstreamResponse, route: Route, reading: ReadContext): MaybePromise<string> {
  const pending: MaybePromise<string>[] = [];
  try {
    return readJsonOf(response, () => {
      const from = cursorAt(response.bytes);
      if (!isObjectAt(from) && response.bytes.length > 0) checkJson(response.bytes);
      const readOne = (at: Cursor): MaybePromise<string> => route.read(objectAt(at), reading);
      const object = route.readWrapped ? route.readWrapped(from, readOne) : readOne(from);
      if (object === undefined)
        throw new InvalidUpstreamResponseError("the response has no object in its wrapper");
      pending.push(object);
      expectEnd(from);
      response.isValidJson = true;
      return object;
    });
  } catch (error) {
    ignoreRejections(pending);
    throw error;
  }
}

/** Translates one page of a list. @throws see {@link translateObject} */
export async function translateList(
  response: UpstreamResponse,
  route: Route,
  reading: ReadContext,
): Promise<string | Buffer> {
  const isEmpty = response.bytes.length === 0;
  if (isEmpty) checkEmpty(route);
  if (isEmpty && isWrite(route)) return "{}";
  return writeRows(response, route, reading) ?? readRows(response, route, reading);
}

/** Writes rows without creating a text for each; undefined if rows of the route may be asynchronous. */
function writeRows(
  response: UpstreamResponse,
  { append, listWriter: writer, readWrapped, lists }: Route,
  reading: ReadContext,
): Buffer | undefined {
  if (!append) return undefined;
  const output = OutputBuffer.shared;
  const start = output.at;
  try {
    const { textBefore } = writer;
    output.append(textBefore ?? "");
    const first = output.at;
    const readRow = (from: Cursor) => {
      output.append(output.at > first ? writer.items.separator : writer.items.open);
      return append(objectAt(from), reading, output);
    };
    const list = openListBody(response, lists.parseList, readRow, readWrapped);
    if (output.at > first) output.append(writer.items.close);
    const [open, close] = writer.around(list);
    output.append(close);
    const bytes = output.takeBytes(start);
    return textBefore === undefined ? Buffer.concat([Buffer.from(open), bytes]) : bytes;
  } finally {
    output.truncate(start);
  }
}

/** Reads rows one at a time. */
async function readRows(response: UpstreamResponse, route: Route, reading: ReadContext): Promise<string> {
  const { list, rows } = await collectRows(route, reading, (readRow) =>
    openListBody(response, route.lists.parseList, (from) => readRow(objectAt(from)), route.readWrapped),
  );
  return writeList(rows, list, route.listWriter);
}

/**
 * Translates rows that may be asynchronous.
 *
 * @param readList Reads a list, and calls its argument at each row to translate.
 * @throws the error of a row or of `readList`. The promises of all other rows then have handlers
 */
export async function collectRows<List>(
  { read }: Route,
  reading: ReadContext,
  readList: (readRow: (from: Cursor) => void) => List,
): Promise<{ readonly list: List; readonly rows: readonly string[] }> {
  const pending: MaybePromise<string>[] = [];
  try {
    const list = readList((from) => void pending.push(read(from, reading)));
    return { list, rows: await awaitAll(pending) };
  } catch (error) {
    ignoreRejections(pending);
    throw error;
  }
}
