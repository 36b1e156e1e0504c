import * as json from "../../dialect/json-text.ts";
import { whenDone } from "../../expression/index.ts";
import type { FieldContext } from "../field.ts";
import type { FieldRule } from "../definition.ts";
import type { Place } from "../place.ts";
import type { Read } from "../reading.ts";
import { emitField, neutralText, type Unit } from "./emit-field.ts";
import { emitMembers } from "./emit-scan.ts";
import { shapeOf, type Shape } from "./shape.ts";
import { indented, newSource } from "./source.ts";
import { wantedPlaces } from "./wanted.ts";

/** Writes an object of variables some of which come later. A function of its own: closures make variables slow. */
async function writeLater(write: (...variables: unknown[]) => string, variables: unknown[]): Promise<string> {
  return write(...(await Promise.all(variables)));
}

/** What generated code uses, by the names that it has there. */
const runtime = { ...json, whenDone, writeLater };

/** Pieces of text that are known, and JavaScript for the others. */
type Piece = { readonly text: string } | { readonly js: string };

/** The pieces of an alpha object, whatever its fields hold. */
function piecesOf(shape: Shape, fields: ReadonlyMap<string, Piece>): Piece[] {
  const members = [...shape].flatMap(([name, inner], index): Piece[] => [
    { text: `${index === 0 ? "" : ","}${JSON.stringify(name)}:` },
    ...(typeof inner === "string" ? [fields.get(inner) ?? { text: "null" }] : piecesOf(inner, fields)),
  ]);
  return [{ text: "{" }, ...members, { text: "}" }];
}

/** One expression that puts the pieces together; known ones side by side are one. */
function emitPieces(pieces: readonly Piece[]): string {
  const joined: string[] = [];
  let known = "";
  for (const piece of pieces) {
    if ("text" in piece) {
      known += piece.text;
      continue;
    }
    joined.push(JSON.stringify(known), piece.js);
    known = "";
  }
  return [...joined, JSON.stringify(known)].join(" +\n");
}

/** Compiles the fields of a resource into one function from the text of a v4 object to that of the alpha object. */
export function compileReader(
  fields: ReadonlyMap<string, FieldRule>,
  context: FieldContext,
  placeOf: (field: string) => Place,
): { readonly read: Read; readonly code: string } {
  const unit: Unit = { source: newSource(), wanted: wantedPlaces(), needsRow: false };
  const { source } = unit;
  const late: { readonly name: string; readonly js: string }[] = [];
  const pieces = new Map(
    [...fields].map(([field, rule]): [string, Piece] => {
      const code = emitField(rule, context, placeOf(field), unit);
      const neutral = JSON.stringify(neutralText(rule));
      if (!code.late) return [field, { js: `(${code.js} ?? ${neutral})` }];
      const name = source.name("late");
      late.push({ name, js: code.js });
      return [field, { js: `(${name} ?? ${neutral})` }];
    }),
  );
  const object = emitPieces(piecesOf(shapeOf(fields.keys(), placeOf), pieces));
  const code = emitFunction(unit, object, late);
  // oxlint-disable-next-line typescript/no-implied-eval -- this is the compiler
  const make = new Function("runtime", "constants", code) as (...parts: unknown[]) => Read;
  return { read: make(runtime, source.constants), code };
}

function emitFunction(
  { source, wanted, needsRow }: Unit,
  object: string,
  late: readonly { readonly name: string; readonly js: string }[],
): string {
  const scan = emitMembers(wanted.root, 0, source);
  const variables = ["at = cursor.at", "code", "end", ...wanted.variables].join(", ");
  const given = [...wanted.variables, "row", "reading", ...late.map(({ name }) => name)].join(", ");
  const constants = source.constants.map((_value, index) => `c${index} = constants[${index}]`);
  const isLate = late.map(({ name }) => `${name} instanceof Promise`).join(" || ");
  const result =
    late.length === 0
      ? []
      : [
          `const ${late.map(({ name, js }) => `${name} = ${js}`).join(",\n")};`,
          `if (${isLate}) return writeLater(write, [${given}]);`,
        ];
  return indented(
    [
      '"use strict";',
      `const { ${Object.keys(runtime).sort().join(", ")} } = runtime;`,
      ...(constants.length > 0 ? [`const ${constants.join(", ")};`] : []),
      `const write = (${given}) => ${object};`,
      "return function read(cursor, reading) {",
      "const { text, depth } = cursor;",
      `let ${variables};`,
      ...(needsRow ? ["const start = at;"] : []),
      "if (text.charCodeAt(at) === 123) {",
      scan,
      "} else at = endOfValue(text, at, depth);",
      "cursor.at = at;",
      `const row = ${needsRow ? "text.slice(start, at)" : '""'};`,
      ...result,
      `return write(${given});`,
      "};",
    ].join("\n"),
  );
}
