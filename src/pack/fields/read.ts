/** v4 response → alpha response: the text of an alpha object, from the text of a v4 object. */
import { type SourceLocation, toJsonText } from "../../base/index.ts";
import type { ReaderField } from "../codegen/emit-object.ts";
import { createReaderUnit, generateReader } from "../codegen/generate-reader.ts";
import { OutputBuffer } from "../codegen/output-buffer.ts";
import type { Steps } from "../steps.ts";
import type { AppendFunction, ReadFunction } from "../translation-context.ts";
import { emitField } from "./emit-field.ts";
import type { FieldContext } from "./field-context.ts";
import type { FieldRule } from "./field-definition.ts";
import { makesList } from "./keys/field-keys.ts";
import { emitLossTest } from "./loss.ts";

/** The read direction of all fields of an object. */
interface ObjectReader {
  readonly append: AppendFunction;
  readonly read: ReadFunction;
  /** Returns the generated JavaScript. */
  readonly code: () => string;
  /** Whether a field of this object may return a promise. Readers of nested objects are not considered. */
  readonly mayBeAsync: boolean;
}

/**
 * Compiles the read direction: all fields become one generated function, which scans the v4 object once. Yields after
 * each field.
 *
 * @param inputs Members that only occur in bodies. Their losses may depend on the object.
 */
export function* compileRead(
  rules: ReadonlyMap<string, FieldRule>,
  inputs: ReadonlyMap<string, FieldRule>,
  context: FieldContext,
  locationOf: (field: string) => SourceLocation,
): Steps<ObjectReader> {
  const unit = createReaderUnit();
  const fields = new Map<string, ReaderField>();
  for (const [name, rule] of rules) {
    const code = emitField(rule, context, locationOf(name), unit);
    const neutral = toJsonText(rule.default) ?? "null";
    const isArray = makesList(rule);
    const isOptional =
      (rule.omit_null ?? context.dialect.client.responses.omit_null) && neutral === "null" && !isArray;
    // The key is the client's name. `code` reads the member under v4's name.
    fields.set(name, { code, isArray, neutral, isOptional });
    yield;
  }
  const losses: string[] = [];
  for (const [name, rule] of [...rules, ...inputs]) {
    const field = fields.get(name);
    const test = emitLossTest({ name, rule, field, context, location: locationOf(name), unit });
    if (test !== undefined) losses.push(test);
    yield;
  }
  const { append, code } = generateReader(fields, losses, unit, locationOf);
  const mayBeAsync = [...fields.values()].some(
    ({ code: field }) => field.kind === "computed" && field.mayBeAsync,
  );
  return { append, read: readFromAppend(append), code, mayBeAsync };
}

/** Turns a function that appends to a buffer into one that returns the text. */
const readFromAppend =
  (append: AppendFunction): ReadFunction =>
  (from, reading) => {
    const { shared } = OutputBuffer;
    const start = shared.at;
    try {
      return append(from, reading, shared) ?? shared.takeText(start);
    } finally {
      shared.truncate(start);
    }
  };
