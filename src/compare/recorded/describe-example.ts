/** Describes a difference for people: both bodies, the rules of the fields, and the commands that repeat it. */
import { basename } from "node:path";
import { isTruncated } from "../../audit/index.ts";
import { splitTarget } from "../../gateway/index.ts";
import { isObject, type ProductWords } from "../../base/index.ts";
import { buildValidPack, type Pack, readPack, renameWords, responseFields } from "../../pack/index.ts";
import type { Example } from "../counts/example.ts";
import { describeRead } from "../dry-run/explanation.ts";
import { type CurlRecord, recordCurls } from "../dry-run/record-curls.ts";
import { rowsById } from "../answers/align-rows.ts";
import { alignByPlace, type CompareRules, type Part, visitParts } from "../answers/compare.ts";

/** The rule of a field that differs. */
export type DifferingRule = ReturnType<typeof findRules>[number];

/** An example, described by the active pack. */
export type DescribedExample = ReturnType<typeof describeExample>;

/** Finds the location of a field in the files of a pack. */
type LocateField = (object: string, field: string) => string | null;

/** Converts the example to a record, for creating commands. */
const toRecord = ({ client, method, path, filter, body, route, old, calls = [] }: Example): CurlRecord => {
  const [bare, query] = splitTarget(path);
  const sent = { method, path: bare, query, filter, route, ...(body !== undefined && { body }) };
  return {
    lane: "alpha",
    client: { fingerprint: client },
    alpha: { ...sent, response: old.body ?? null },
    v4: calls,
    bytes: { in: 0, out: 0 },
  };
};

/** Returns the header that selects the candidate. The subject of a candidate consists of the hashes of both packs. */
function packHeader({ source, subject }: Example): string {
  const [, candidate = "$CANDIDATE_HASH"] = /^\w+ (\w+)$/.exec(subject) ?? [];
  return source === "candidate" ? ` -H "X-Pack: ${candidate}"` : "";
}

/** Returns the members that may identify a row: the pack's id, and the first member of the objects of the route. */
function idNamesOf(route: string, pack: Pack): readonly string[] {
  const [first] = pack.route(route)?.resource.fields.keys() ?? [];
  return [pack.dialect.client.id, ...(first === undefined ? [] : [first])];
}

/** Finds the rules of a pack for the fields of an example that differ. */
export function findRules(example: Example, pack: Pack, locate: LocateField) {
  const route = pack.route(example.route);
  const fields = route ? responseFields(route, pack) : new Map<string, never>();
  const paths = [...new Set(example.differences.map(({ field }) => field))];
  return paths.map((path) => {
    const names = path.split(".");
    // A member without a rule is a part of a member that has one.
    const known = names
      .map((_, index) => names.slice(0, names.length - index).join("."))
      .find((name) => fields.has(name));
    const field = known === undefined ? undefined : fields.get(known);
    return {
      field: path,
      /** The rule as text. Null for fields that no rule of the pack defines, such as fields of a list's envelope. */
      rule: field ? describeRead(field.name, field.rule, false) : null,
      /** File and line in the pack: `book.yaml:7`. */
      place: field ? locate(field.object, field.name) : null,
    };
  });
}

/**
 * The variables of the commands. A gateway with LEGACY_URL forwards requests of clients that have not moved to the old
 * service.
 */
const ADDRESSES = {
  candidate: { old: "$GATEWAY", new: "$GATEWAY" },
  legacy: { old: "$LEGACY_URL", new: "$GATEWAY_WITHOUT_LEGACY_URL" },
} as const;

/** Describes an example by a pack. @param locate Default: locations are unknown */
export function describeExample(example: Example, pack: Pack, locate: LocateField = () => null) {
  const { alpha, v4 } = recordCurls(toRecord(example), pack);
  const addresses = ADDRESSES[example.source];
  const request = (address: string): string => alpha.replace("$GATEWAY", () => address);
  return {
    example,
    lines: alignBodies(example.old.body, example.new.body, idNamesOf(example.route, pack)),
    rules: findRules(example, pack, locate),
    /** Commands: the client's request to both sides, and the calls to the upstream. */
    curl: {
      old: request(addresses.old),
      new: request(addresses.new).replace(/^curl\b/m, (name) => name + packHeader(example)),
      upstream: v4,
    },
  };
}

/** Loads a pack with the locations of its fields. @throws {PackError} */
export function loadWithPlaces(
  directory: string,
  words: ProductWords,
): { readonly pack: Pack; readonly locate: LocateField } {
  const { pack, validated } = buildValidPack(readPack(directory), words);
  const renamed = renameWords(validated, words);
  function locate(object: string, field: string): string | null {
    const index = renamed.resources.findIndex(({ definition }) => definition.object === object);
    const [file, original] = [renamed.resources[index], validated.resources[index]];
    if (!file || !original) return null;
    const at = Object.keys(file.definition.fields).indexOf(field);
    const name = Object.keys(original.definition.fields)[at];
    // The field belongs to the object that this one extends.
    if (name === undefined)
      return file.definition.extends === undefined ? null : locate(file.definition.extends, field);
    return `${basename(original.source.file)}:${original.source.keyDiagnosticAt(["fields", name], "").line}`;
  }
  return { pack, locate };
}

/** A value in both bodies. Values are JSON. */
interface AlignedLine {
  /** The path: `books[id=7].label`, or `books[0].label` in a list without ids. */
  readonly path: string;
  /** The old value; null if this side has no such value. */
  readonly old: string | null;
  readonly new: string | null;
  readonly isDifferent: boolean;
}

/** Maximum number of lines of both bodies. */
const MAX_LINES = 2000;

/** Aligns the rows of two lists by the first member that is unique on both sides, otherwise by their positions. */
function alignNamed(
  idNames: readonly string[],
  field: string,
  old: readonly unknown[],
  other: readonly unknown[],
): readonly Part[] {
  for (const name of idNames) {
    const [rows, otherRows] = [old, other].map((list) => rowsById(list, [name], String));
    if (!rows || !otherRows) continue;
    return [...new Set([...rows.keys(), ...otherRows.keys()])].map((id) => ({
      field: `${field}[${name}=${id}]`,
      old: rows.get(id),
      new: otherRows.get(id),
    }));
  }
  return alignByPlace(field, old, other);
}

/** Returns an empty list or object for a list or object with members. Undefined for all other values. */
function emptyLike(value: unknown): unknown {
  if (Array.isArray(value)) return value.length > 0 ? [] : undefined;
  return isObject(value) && Object.keys(value).length > 0 ? {} : undefined;
}

const print = (value: unknown): string | null => JSON.stringify(value) ?? null;

/** Aligns two bodies. @param idNames Members that may identify a row, the most suitable first */
export function alignBodies(
  old: unknown,
  other: unknown,
  idNames: readonly string[],
): readonly AlignedLine[] {
  const lines: AlignedLine[] = [];
  const rules: CompareRules = { align: (...lists) => alignNamed(idNames, ...lists) };

  function add({ field, old: value, new: otherValue }: Part): void {
    if (lines.length >= MAX_LINES) return;
    // A row that only one side has is listed with all its members.
    const empty = emptyLike(value === undefined ? otherValue : otherValue === undefined ? value : undefined);
    if (empty !== undefined)
      return visitParts({ field, old: value ?? empty, new: otherValue ?? empty }, rules, add);
    const [text, otherText] = [print(value), print(otherValue)];
    lines.push({ path: field, old: text, new: otherText, isDifferent: text !== otherText });
  }

  const [body, otherBody] = [old, other].map((each) => (isTruncated(each) ? each.text : each));
  visitParts({ field: "", old: body, new: otherBody }, rules, add);
  return lines;
}
