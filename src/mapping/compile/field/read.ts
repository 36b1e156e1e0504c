import {
  skipWhitespace,
  endOfValue,
  nameAt,
  notJson,
  rawTextAt,
  type Cursor,
} from "../../../dialect/json/scan.ts";
import { fromJsonText } from "../../../dialect/json/text.ts";
import { ignoreRejections } from "../../../jsonata/index.ts";
import type { WriteCompileContext } from "./write.ts";
import type { FieldRule } from "../../schema/definition.ts";
import type { SourceLocation } from "../../load/source-location.ts";
import type { AppendFunction, ReadFunction } from "../../translation-context.ts";
import { emitField, neutralText, type ReaderUnit } from "../../codegen/emit-field.ts";
import { emitMembers } from "../../codegen/emit-scan.ts";
import { emitWrite, type OutputField } from "../../codegen/emit-write.ts";
import { OutputBuffer, putFound, putRange, sharedOutputBuffer, sizeOf } from "../../codegen/output-buffer.ts";
import { buildOutputTree } from "../../codegen/output-tree.ts";
import { indentCode, createCodeBuilder } from "../../codegen/code-builder.ts";
import { createMemberPlan } from "../../codegen/member-plan.ts";

/** Writes an object of variables some of which come later. A function of its own: closures make variables slow. */
async function writeLater(
  write: (output: OutputBuffer, ...variables: unknown[]) => void,
  variables: unknown[],
): Promise<string> {
  const output = new OutputBuffer();
  write(output, ...(await Promise.all(variables)));
  return output.takeText(0);
}

/** The value between two places; what ends at 0 is missing. */
const valueAt = (cursor: Cursor, start: number, end: number): unknown =>
  end === 0 ? undefined : fromJsonText(rawTextAt(cursor, start, end));

function isEmpty(object: Readonly<Record<string, unknown>>): boolean {
  for (const _name in object) return false;
  return true;
}

/** What generated code uses, by the names that it has there. */
const runtime = {
  skipWhitespace,
  endOfValue,
  ignoreRejections,
  isEmpty,
  nameAt,
  notJson,
  putFound,
  putRange,
  sizeOf,
  rawTextAt,
  valueAt,
  writeLater,
};

/**
 * Compiles the fields of a resource into one function from the text of a v4 object to that of the alpha object.
 *
 * @returns `late`: whether its result may come later, those of other objects' readers left out
 */
export function compileReader(
  fields: ReadonlyMap<string, FieldRule>,
  context: WriteCompileContext,
  placeOf: (field: string) => SourceLocation,
): {
  readonly append: AppendFunction;
  readonly read: ReadFunction;
  readonly code: string;
  readonly late: boolean;
} {
  const unit: ReaderUnit = { source: createCodeBuilder(), wanted: createMemberPlan() };
  const written = new Map(
    [...fields].map(([name, rule]): [string, OutputField] => {
      const code = emitField(rule, context, placeOf(name), unit);
      return [name, { rule, code, made: code.kind === "made" ? unit.source.name("made") : "" }];
    }),
  );
  const code = emitFunction(unit, emitWrite(buildOutputTree(fields.keys(), placeOf), written, unit.source), [
    ...written.values(),
  ]);
  // oxlint-disable-next-line typescript/no-implied-eval -- this is the compiler
  const make = new Function("runtime", "constants", code) as (...parts: unknown[]) => AppendFunction;
  const append = make(runtime, unit.source.constants);
  const late = [...written.values()].some(({ code: field }) => field.kind === "made" && field.late);
  return { append, read: readBy(append), code, late };
}

/** What is appended, as a text of its own. */
const readBy =
  (append: AppendFunction): ReadFunction =>
  (from, reading) => {
    const start = sharedOutputBuffer.at;
    try {
      const later = append(from, reading, sharedOutputBuffer);
      return later ?? sharedOutputBuffer.takeText(start);
    } finally {
      sharedOutputBuffer.truncate(start);
    }
  };

/** How many bytes can be written at most: of each place as often as it is copied, at most once a field. */
function emitRoom(known: number, fields: readonly OutputField[]): string {
  const neutrals = fields.reduce((sum, { rule }) => sum + Buffer.byteLength(neutralText(rule)) + 2, 0);
  const copied = fields.flatMap(({ code }) =>
    code.kind === "constant" || !code.range ? [] : [`${code.range.end} - ${code.range.start}`],
  );
  const made = fields.flatMap(({ code, made: name }) => (code.kind === "made" ? [`sizeOf(${name})`] : []));
  return [String(known + neutrals), ...copied, ...made].join(" + ");
}

/** The texts of fields that have to be made. Where one fails, promises of others are not left without a handler. */
function emitMade(
  made: readonly { readonly name: string; readonly js: string }[],
  late: readonly string[],
): string[] {
  if (late.length === 0) return made.map(({ name, js }) => `const ${name} = ${js};`);
  return [
    `let ${made.map(({ name }) => name).join(", ")};`,
    "try {",
    ...made.map(({ name, js }) => `${name} = ${js};`),
    "} catch (error) {",
    `ignoreRejections([${late.join(", ")}]);`,
    "throw error;",
    "}",
  ];
}

function emitFunction(
  { source, wanted }: ReaderUnit,
  { code, known }: { readonly code: string; readonly known: number },
  fields: readonly OutputField[],
): string {
  const scan = emitMembers(wanted.root, 0, source);
  const ranges = wanted.ranges.flatMap(({ start, end }) => [start, end]);
  const made = fields.flatMap(({ rule, code: field, made: name }) =>
    field.kind === "made" ? [{ name, js: field.js, late: field.late || rule.object !== undefined }] : [],
  );
  const given = ["bytes", ...ranges, ...made.map(({ name }) => name)].join(", ");
  const late = made.filter((field) => field.late).map(({ name }) => name);
  const constants = source.constants.map((_value, index) => `c${index} = constants[${index}]`);
  return indentCode(
    [
      '"use strict";',
      `const { ${Object.keys(runtime).join(", ")} } = runtime;`,
      ...(constants.length > 0 ? [`const ${constants.join(", ")};`] : []),
      `function write(output, ${given}) {`,
      `const out = output.reserve(${emitRoom(known, fields)});`,
      "let o = output.at;",
      code,
      "output.commit(o);",
      "}",
      "return function append(cursor, reading, output) {",
      "const { bytes, depth, at: start } = cursor;",
      `let ${["at = start", "code = 0", ...ranges.map((name) => `${name} = 0`)].join(", ")};`,
      "if (bytes[at] === 123) {",
      scan,
      "} else at = endOfValue(bytes, at, depth);",
      "cursor.at = at;",
      ...emitMade(made, late),
      ...(late.length > 0
        ? [
            `if (${late.map((name) => `${name} instanceof Promise`).join(" || ")}) return writeLater(write, [${given}]);`,
          ]
        : []),
      `write(output, ${given});`,
      "};",
    ].join("\n"),
  );
}
