/** Generates the JavaScript function that writes the text of an alpha object from the text of a v4 object. */
import { rawTextAt, type Cursor } from "../../dialect/json/scan.ts";
import { paddedText } from "../../dialect/json/padded-text.ts";
import { fromJsonText, type JsonText } from "../../dialect/json/text.ts";
import { ignoreRejections } from "../../jsonata/index.ts";
import type { SourceLocation } from "../load/source-location.ts";
import type { AppendFunction } from "../translation-context.ts";
import { createCodeBuilder, indentCode, type CodeBuilder } from "./code-builder.ts";
import { createMemberPlan, scanMembers, type ByteRange, type MemberPlan } from "./member-scan.ts";
import { OutputBuffer, putRange, putTextOrNeutral, sizeOf } from "./output-buffer.ts";

export type { ByteRange } from "./member-scan.ts";

/** State while the function of one object is generated. */
export interface ReaderUnit {
  readonly builder: CodeBuilder;
  readonly plan: MemberPlan;
  /** Tests that several fields share, by their source. They are computed before the fields. */
  readonly tests: Map<string, { readonly variable: string; readonly js: string }>;
}

export const createReaderUnit = (): ReaderUnit => ({
  builder: createCodeBuilder(),
  plan: createMemberPlan(),
  tests: new Map(),
});

/** Where the text of a field comes from. */
export type FieldCode =
  /** It is always the same. */
  | { readonly kind: "constant"; readonly text: JsonText }
  /** It is copied from the v4 object. */
  | { readonly kind: "copied"; readonly range: ByteRange }
  /**
   * JavaScript computes it, or a promise of it (`mayBeAsync`, which doesn't count readers of nested objects).
   * With a range, a result of `undefined` means: copy the range.
   */
  | {
      readonly kind: "computed";
      readonly js: string;
      readonly mayBeAsync: boolean;
      readonly range?: ByteRange;
    };

/** A field of the alpha object. */
export interface ReaderField {
  readonly code: FieldCode;
  /** The variable that holds the text, where it is computed. */
  readonly variable: string;
  /** Whether `variable` may hold a promise, readers of nested objects included. */
  readonly mayBeAsync: boolean;
  /** Alpha has an array with the one value. */
  readonly isArray: boolean;
  /** The text where v4 has null or nothing. */
  readonly neutral: string;
  /** Whether the member is left out where v4 has null or nothing. */
  readonly isOptional: boolean;
}

/** Writes an object when some variables are promises. Not inlined: closures would make the variables slow. */
async function writeLater(
  write: (output: OutputBuffer, ...variables: unknown[]) => void,
  variables: unknown[],
): Promise<string> {
  const output = new OutputBuffer();
  write(output, ...(await Promise.all(variables)));
  return output.takeText(0);
}

/** Parses the bytes from `start` to `end`. An end of 0 means that the member is missing. */
export const parseAt = (cursor: Cursor, start: number, end: number): unknown =>
  end === 0 ? undefined : fromJsonText(rawTextAt(cursor, start, end));

function isEmpty(object: Readonly<Record<string, unknown>>): boolean {
  for (const _name in object) return false;
  return true;
}

/** What generated code calls. The keys are the identifiers in that code: rename both or neither. */
const runtime = {
  ignoreRejections,
  isEmpty,
  putTextOrNeutral,
  putRange,
  sizeOf,
  rawTextAt,
  scanMembers,
  parseAt,
  writeLater,
};

/**
 * Generates and instantiates the function for these fields, by alpha name in the order of the alpha object.
 *
 * @param losses Statements that add to `lost` what this object loses.
 */
export function generateReader(
  fields: ReadonlyMap<string, ReaderField>,
  losses: readonly string[],
  unit: ReaderUnit,
  locationOf: (field: string) => SourceLocation,
): { readonly append: AppendFunction; readonly code: string } {
  const body = emitObject(buildOutputTree(fields.keys(), locationOf), fields, unit.builder);
  const code = emitFunction(unit, body, [...fields.values()], losses);
  // oxlint-disable-next-line typescript/no-implied-eval -- this is the compiler
  const instantiate = new Function("runtime", "constants", code) as (...parts: unknown[]) => AppendFunction;
  return { append: instantiate(runtime, unit.builder.constants), code };
}

interface ObjectCode {
  readonly code: string;
  /** Bytes that are the same for every object. */
  readonly constantBytes: number;
}

function emitFunction(
  { builder, plan, tests }: ReaderUnit,
  body: ObjectCode,
  fields: readonly ReaderField[],
  losses: readonly string[],
): string {
  const { scan, variables } = plan.compile();
  const scanName = builder.constant(scan);
  const computed = fields.flatMap(({ code, variable, mayBeAsync }) =>
    code.kind === "computed" ? [{ variable, js: code.js, mayBeAsync }] : [],
  );
  const copied = new Set(fields.flatMap(({ code }) => (code.kind === "constant" ? [] : (code.range ?? []))));
  const parameters = [
    "cursor",
    ...[...copied].flatMap(({ start, end }) => [start, end]),
    ...computed.map(({ variable }) => variable),
  ].join(", ");
  const promises = computed.filter(({ mayBeAsync }) => mayBeAsync).map(({ variable }) => variable);
  const constants = builder.constants.map((_value, index) => `c${index} = constants[${index}]`);
  return indentCode(
    [
      '"use strict";',
      `const { ${Object.keys(runtime).join(", ")} } = runtime;`,
      ...(constants.length > 0 ? [`const ${constants.join(", ")};`] : []),
      `function write(output, ${parameters}) {`,
      `output.reserve(${emitSize(body.constantBytes, fields)});`,
      "const { bytes: out, view } = output;",
      "const { bytes } = cursor;",
      "let o = output.at;",
      body.code,
      "output.commit(o);",
      "}",
      "return function append(cursor, reading, output) {",
      "const { bytes, at: start } = cursor;",
      `scanMembers(cursor, ${scanName});`,
      "const { at } = cursor;",
      `const { offsets } = ${scanName};`,
      ...variables.map(([name, index]) => `const ${name} = offsets[${index}];`),
      ...[...tests.values()].map(({ variable, js }) => `const ${variable} = ${js};`),
      ...emitComputed(computed, promises),
      ...(losses.length > 0
        ? ["const { lost } = reading;", "if (lost !== undefined) {", ...losses, "}"]
        : []),
      ...(promises.length > 0
        ? [
            `if (${promises.map((name) => `${name} instanceof Promise`).join(" || ")}) return writeLater(write, [${parameters}]);`,
          ]
        : []),
      `write(output, ${parameters});`,
      "};",
    ].join("\n"),
  );
}

/** The most bytes that an object can take: each range counts as often as it is copied, at most once per field. */
function emitSize(constantBytes: number, fields: readonly ReaderField[]): string {
  const neutrals = fields.reduce((sum, { neutral }) => sum + Buffer.byteLength(neutral) + 2, 0);
  const copied = fields.flatMap(({ code }) =>
    code.kind === "constant" || !code.range ? [] : [`${code.range.end} - ${code.range.start}`],
  );
  const computed = fields.flatMap(({ code, variable }) =>
    code.kind === "computed" ? [`sizeOf(${variable})`] : [],
  );
  return [String(constantBytes + neutrals), ...copied, ...computed].join(" + ");
}

/** Computes the variables. If one throws, the promises of the others must not stay without a handler. */
function emitComputed(
  computed: readonly { readonly variable: string; readonly js: string }[],
  promises: readonly string[],
): string[] {
  if (promises.length === 0) return computed.map(({ variable, js }) => `const ${variable} = ${js};`);
  return [
    `let ${computed.map(({ variable }) => variable).join(", ")};`,
    "try {",
    ...computed.map(({ variable, js }) => `${variable} = ${js};`),
    "} catch (error) {",
    `ignoreRejections([${promises.join(", ")}]);`,
    "throw error;",
    "}",
  ];
}

/** The members of an alpha object in order: a member is a field, by its dotted name, or an object itself. */
type OutputTree = ReadonlyMap<string, string | OutputTree>;

/** Nests dotted field names. Reports names that are both a field and an object. */
function buildOutputTree(names: Iterable<string>, locationOf: (name: string) => SourceLocation): OutputTree {
  const tree = new Map<string, string | OutputTree>();
  for (const name of names) {
    const keys = name.split(".");
    const last = keys.pop() ?? name;
    let object = tree;
    for (const key of keys) {
      const inner = object.get(key) ?? new Map<string, string | OutputTree>();
      if (typeof inner === "string") locationOf(name).report(`"${inner}" is a field already, and no object`);
      else object = object.set(key, inner).get(key) as typeof tree;
    }
    if (object.has(last)) locationOf(name).report("other fields stand inside this one");
    else object.set(last, name);
  }
  return tree;
}

/** Constant text, or code that writes text: values, and up to `bytes` other bytes. */
type Piece = { readonly text: string } | { readonly js: string; readonly bytes?: number };

/** The pieces of one member: its name, its value, and what separates it from the next one. */
function emitMember(key: string, field: ReaderField, separator: string, builder: CodeBuilder): Piece[] {
  if (!field.isOptional) return [{ text: key }, ...emitValue(field, "", "", builder), { text: separator }];
  if (field.code.kind === "constant" && (field.code.text ?? null) === null) return [];
  const bytes = Buffer.byteLength(key + separator);
  return emitValue(field, emitBytes(key), emitBytes(separator), builder).map((piece) =>
    "text" in piece ? { text: key + piece.text + separator } : { ...piece, bytes },
  );
}

/**
 * The pieces of one value. An array field without a value is an empty array.
 *
 * @param before Code before the value of an optional field.
 * @param after Code behind it.
 */
function emitValue(field: ReaderField, before: string, after: string, builder: CodeBuilder): Piece[] {
  const { code, variable, isArray, isOptional } = field;
  const neutral = isArray ? "[]" : field.neutral;
  if (code.kind === "constant") {
    const { text } = code;
    if (text === null || text === undefined) return [{ text: neutral }];
    return [{ text: isArray ? `[${text}]` : text }];
  }
  const neutralBytes = builder.constant(paddedText(neutral));
  const [open, close] = isArray ? ["out[o++] = 91; ", " out[o++] = 93;"] : ["", ""];
  const put = (js: string): string => `${before}${open}o = ${js};${close}${after}`;
  const putNeutral = isOptional ? "" : `o = putTextOrNeutral(output, o, undefined, ${neutralBytes});`;
  if (code.kind === "copied") return [{ js: emitCopy(code.range, put, putNeutral) }];
  const putComputed = put(`putTextOrNeutral(output, o, ${variable}, ${neutralBytes})`);
  const putOther = code.range ? emitCopy(code.range, put, putNeutral) : putNeutral;
  return [
    { js: `if (${variable} !== undefined && ${variable} !== null) { ${putComputed} } else { ${putOther} }` },
  ];
}

/** Copies a range unless it is missing or null (110 is the letter n). */
const emitCopy = ({ start, end }: ByteRange, put: (js: string) => string, putNeutral: string): string =>
  `if (${end} > 0 && bytes[${start}] !== 110) { ${put(`putRange(view, o, cursor, ${start}, ${end})`)} } else { ${putNeutral} }`;

/** Ends an object after a member, which ends with a comma (44), or without members. */
const CLOSE_OBJECT: Piece = { js: "if (out[o - 1] === 44) o -= 1; out[o++] = 125;", bytes: 1 };

/** The pieces of an object, nested objects included. With optional members, each member ends with a comma. */
function piecesOf(tree: OutputTree, fields: ReadonlyMap<string, ReaderField>, builder: CodeBuilder): Piece[] {
  const members = [...tree];
  const hasOptional = members.some(([, inner]) => typeof inner === "string" && fields.get(inner)?.isOptional);
  const pieces = members.flatMap(([name, inner], index): Piece[] => {
    const key = `${JSON.stringify(name)}:`;
    const separator = hasOptional || index < members.length - 1 ? "," : "";
    if (typeof inner !== "string")
      return [{ text: key }, ...piecesOf(inner, fields, builder), { text: separator }];
    const field = fields.get(inner);
    return field ? emitMember(key, field, separator, builder) : [];
  });
  return [{ text: "{" }, ...pieces, hasOptional ? CLOSE_OBJECT : { text: "}" }];
}

/** Stores constant bytes in groups of eight: no loop or copy is faster. What follows overwrites the rest of the last group. */
const emitBytes = (text: string): string => {
  const length = Buffer.byteLength(text);
  const { view } = paddedText(text);
  const groups = Array.from({ length: Math.ceil(length / 8) }, (_, index) => 8 * index);
  const stores = groups.map((at) => `view.setBigInt64(o + ${at}, ${view.getBigInt64(at)}n);`);
  return `/* ${text.replaceAll("*/", "* /")} */ ${stores.join(" ")} o += ${length};`;
};

/** Emits the code that writes the object into `out` from the offset `o` on. `out` has enough space. */
function emitObject(
  tree: OutputTree,
  fields: ReadonlyMap<string, ReaderField>,
  builder: CodeBuilder,
): ObjectCode {
  const pieces = piecesOf(tree, fields, builder);
  const code: string[] = [];
  let text = "";
  let constantBytes = 0;
  function flush(): void {
    if (text === "") return;
    code.push(emitBytes(text));
    constantBytes += Buffer.byteLength(text);
    text = "";
  }
  for (const piece of pieces) {
    if ("text" in piece) text += piece.text;
    else {
      flush();
      code.push(piece.js);
      constantBytes += piece.bytes ?? 0;
    }
  }
  flush();
  return { code: code.join("\n"), constantBytes };
}
