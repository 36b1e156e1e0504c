import type { FieldRule } from "../schema/definition.ts";
import { neutralText, type FieldCode } from "./emit-field.ts";
import type { OutputTree } from "./output-tree.ts";
import type { CodeBuilder } from "./code-builder.ts";

/** Writes the code that puts an alpha object together. */

/** A field that is to be written; `made` names the variable that holds its text, where it is made. */
export interface OutputField {
  readonly rule: FieldRule;
  readonly code: FieldCode;
  readonly made: string;
}

/** Text that is known, or what code puts there. */
type Piece = { readonly text: string } | { readonly js: string };

/** How the pieces of one field are put. Of a list that alpha wants, nothing is an empty one. */
function emitText({ rule, code, made }: OutputField, source: CodeBuilder): Piece[] {
  const neutral = rule.array === true ? "[]" : neutralText(rule);
  const wrapped = (text: string): string => (rule.array === true ? `[${text}]` : text);
  if (code.kind === "constant") {
    const { text } = code;
    return [{ text: text === null || text === undefined ? neutral : wrapped(text) }];
  }
  const missing = source.constant(Buffer.from(neutral));
  const [open, close] = rule.array === true ? ["out[o++] = 91; ", " out[o++] = 93;"] : ["", ""];
  const put = (js: string): string => `${open}o = ${js};${close}`;
  const nothing = `o = putFound(out, o, undefined, ${missing});`;
  if (code.kind === "copied") return [{ js: copy(code.range, put, nothing) }];
  const found = put(`putFound(out, o, ${made}, ${missing})`);
  const otherwise = code.range ? copy(code.range, put, nothing) : nothing;
  return [{ js: `if (${made} !== undefined && ${made} !== null) { ${found} } else { ${otherwise} }` }];
}

/** As it stands in v4; null is nothing, too. */
const copy = (
  { start, end }: { readonly start: string; readonly end: string },
  put: (js: string) => string,
  nothing: string,
): string =>
  `if (${end} > 0 && bytes[${start}] !== 110) { ${put(`putRange(out, o, bytes, ${start}, ${end})`)} } else { ${nothing} }`;

/** The pieces of an alpha object, whatever its fields hold. */
function piecesOf(shape: OutputTree, pieces: ReadonlyMap<string, readonly Piece[]>): Piece[] {
  const members = [...shape].flatMap(([name, inner], index): Piece[] => [
    { text: `${index === 0 ? "" : ","}${JSON.stringify(name)}:` },
    ...(typeof inner === "string" ? (pieces.get(inner) ?? [{ text: "null" }]) : piecesOf(inner, pieces)),
  ]);
  return [{ text: "{" }, ...members, { text: "}" }];
}

/** Bytes that are known, one by one: no loop is as quick. */
const emitKnown = (text: string): string => {
  const bytes = [...Buffer.from(text)];
  const stores = bytes.map((byte, index) => `out[o + ${index}] = ${byte};`);
  return `/* ${text.replaceAll("*/", "* /")} */ ${stores.join(" ")} o += ${bytes.length};`;
};

/**
 * The body of a function that writes into `out`, which has room for everything, and gives the text.
 *
 * @returns the code, and the number of bytes that are always the same
 */
export function emitWrite(
  shape: OutputTree,
  fields: ReadonlyMap<string, OutputField>,
  source: CodeBuilder,
): { readonly code: string; readonly known: number } {
  const pieces = piecesOf(
    shape,
    new Map([...fields].map(([name, field]) => [name, emitText(field, source)])),
  );
  const code: string[] = [];
  let text = "";
  let known = 0;
  function flush(): void {
    if (text === "") return;
    code.push(emitKnown(text));
    known += Buffer.byteLength(text);
    text = "";
  }
  for (const piece of pieces) {
    if ("text" in piece) text += piece.text;
    else {
      flush();
      code.push(piece.js);
    }
  }
  flush();
  return { code: code.join("\n"), known };
}
