/** Emits the JavaScript that writes an alpha object: its members in order, with constant bytes between them. */
import { type JsonText, paddedText, type SourceLocation } from "../../base/index.ts";
import type { CodeBuilder } from "./code-builder.ts";
import { emitHasValue } from "./emit-tests.ts";
import type { ByteRange } from "./member-scan.ts";

// An example. This rule of a resource file renames v4's `specs.cores` for clients:
//
//     fields: { vcpus: specs.cores }
//
// `emit-field.ts` asks the scan for the range of `specs.cores` (s0 to e0). This file generates the object. The client's name
// is constant bytes, and the value is copied from the v4 object, or written from c0 (`null`) if v4 has none:
//
//     /* {"vcpus": */ view.setBigInt64(o + 0, 8872784385333883682n);
//     view.setBigInt64(o + 8, 4179340454199820288n); o += 9;
//     if (e0 > 0 && bytes[s0] !== 110) { o = putRange(view, o, cursor, s0, e0); }
//     else { o = putTextOrNeutral(output, o, undefined, c0); }
//     /* } */ view.setBigInt64(o + 0, 9007199254740992000n); o += 1;
//
// `alpha-gateway check --emit` prints the functions of a pack.

/** The source of a field's text. */
export type FieldCode =
  /** The text is always the same. */
  | { readonly kind: "constant"; readonly text: JsonText }
  /** The text is copied from the v4 object. */
  | { readonly kind: "copied"; readonly range: ByteRange }
  /**
   * JavaScript computes it, or a promise of it. With a range, a result of `undefined` means: copy the range.
   */
  | {
      readonly kind: "computed";
      /** The variable that holds the text. */
      readonly variable: string;
      readonly js: string;
      /** Whether it may be a promise, apart from readers of nested objects. */
      readonly mayBeAsync: boolean;
      /** Whether a reader of a nested object gives it, which may give a promise as well. */
      readonly isNested: boolean;
      readonly range?: ByteRange;
    };

/** A field of the alpha object. */
export interface ReaderField {
  readonly code: FieldCode;
  /** Whether alpha receives an array that contains the single value. */
  readonly isArray: boolean;
  /** The text if v4's value is null or missing. */
  readonly neutral: string;
  /** Whether the member is omitted if v4's value is null or missing. */
  readonly isOptional: boolean;
}

export interface ObjectCode {
  readonly code: string;
  /** Number of bytes that are the same for every object. */
  readonly constantBytes: number;
}

/** The members of an alpha object in order: a member is a nested object, or a field, identified by its dotted name. */
type OutputTree = ReadonlyMap<string, string | OutputTree>;

/** Nests dotted field names. Reports names that are both a field and an object. */
export function buildOutputTree(
  names: Iterable<string>,
  locationOf: (name: string) => SourceLocation,
): OutputTree {
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

/** Constant text, or code that writes a text: values, and at most `bytes` other bytes. */
type Piece = { readonly text: string } | { readonly js: string; readonly bytes?: number };

/** Returns the pieces of one member: its name, its value, and the separator. */
function emitMember(key: string, field: ReaderField, separator: string, builder: CodeBuilder): Piece[] {
  if (!field.isOptional) return [{ text: key }, ...emitValue(field, "", "", builder), { text: separator }];
  if (field.code.kind === "constant" && (field.code.text ?? null) === null) return [];
  const bytes = Buffer.byteLength(key + separator);
  return emitValue(field, emitBytes(key), emitBytes(separator), builder).map((piece) =>
    "text" in piece ? { text: key + piece.text + separator } : { ...piece, bytes },
  );
}

/**
 * Returns the pieces of one value. An array field without a value becomes an empty array.
 *
 * @param before Code before the value of an optional field.
 * @param after Code after the value.
 */
function emitValue(field: ReaderField, before: string, after: string, builder: CodeBuilder): Piece[] {
  const { code, isArray, isOptional } = field;
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
  const { variable } = code;
  const putComputed = put(`putTextOrNeutral(output, o, ${variable}, ${neutralBytes})`);
  const putOther = code.range ? emitCopy(code.range, put, putNeutral) : putNeutral;
  return [
    { js: `if (${variable} !== undefined && ${variable} !== null) { ${putComputed} } else { ${putOther} }` },
  ];
}

/** Copies a range unless it is missing or null. */
function emitCopy(range: ByteRange, put: (js: string) => string, putNeutral: string): string {
  const copy = put(`putRange(view, o, cursor, ${range.start}, ${range.end})`);
  return `if (${emitHasValue(range)}) { ${copy} } else { ${putNeutral} }`;
}

/** Ends an object. Its last member ends with a comma (44), if it has members. */
const CLOSE_OBJECT: Piece = { js: "if (out[o - 1] === 44) o -= 1; out[o++] = 125;", bytes: 1 };

/** Returns the pieces of an object, nested objects included. If members are optional, each ends with a comma. */
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

/**
 * Stores constant bytes in groups of eight, which is faster than a loop or a copy. Later output overwrites the rest
 * of the last group.
 */
const emitBytes = (text: string): string => {
  const length = Buffer.byteLength(text);
  const { view } = paddedText(text);
  const groups = Array.from({ length: Math.ceil(length / 8) }, (_, index) => 8 * index);
  const stores = groups.map((at) => `view.setBigInt64(o + ${at}, ${view.getBigInt64(at)}n);`);
  return `/* ${text.replaceAll("*/", "* /")} */ ${stores.join(" ")} o += ${length};`;
};

/** Emits the code that writes the object into `out` from the offset `o` on. `out` has enough space. */
export function emitObject(
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
