/** The keys of a field that uses a value kind: a table, or a pair of expressions, translates its value in all directions. */
import { z } from "zod";
import {
  about,
  ByteMap,
  type JsonText,
  paddedText,
  resolveReference,
  type SourceLocation,
} from "../../../base/index.ts";
import { type MaybePromise, thenMaybe } from "../../../jsonata/index.ts";
import { invalidValue, listOrFaults } from "./invalid-write.ts";
import { MAX_CACHED_LENGTH, MAX_CACHED_VALUES } from "../../codegen/member-test.ts";
import type { ReadStepFunction } from "./stub-cache.ts";
import { applyValueKind, UnknownValue, type ValueKind } from "../../values/value-kind.ts";
import { evaluateFor } from "../../expressions/compile-expression.ts";
import { has, states } from "../../key-rules.ts";
import { fieldKeys, type FieldKeyContext, type ReadStep } from "./field-key.ts";
import { textKey } from "../../values/key-schemas.ts";

/** Returns the value kind of a field. Reports a name that the pack does not define. */
const findKind = (
  values: string | undefined,
  context: FieldKeyContext,
  location: SourceLocation,
): ValueKind | undefined =>
  values === undefined
    ? undefined
    : resolveReference(location.at("values"), "value kind", values, context.values);

/** Caches the results of a value kind, which only depend on the value. */
function cachedReader(
  kind: ValueKind,
  args: Readonly<Record<string, unknown>>,
  location: SourceLocation,
): ReadStep {
  const { read, mayBeAsync } = kind.reader(args);
  const { origin } = location;
  const cache = new ByteMap([], MAX_CACHED_VALUES);
  function cacheResult(text: string, result: MaybePromise<JsonText>): MaybePromise<JsonText> {
    if (typeof result !== "string" || text.length > MAX_CACHED_LENGTH) return result;
    cache.set(Buffer.from(text), paddedText(result));
    return result;
  }
  const run: ReadStepFunction = (text) =>
    cacheResult(
      text,
      evaluateFor(origin, () => read(text)),
    );
  return { run, mayBeAsync, cachedText: (bytes, start, end) => cache.find(bytes, start, end) };
}

/** Returns values that the table does not contain, even in a list, as faults of the body. */
function asFaults(v4: unknown): unknown {
  if (v4 instanceof UnknownValue) return invalidValue(v4);
  return Array.isArray(v4) ? listOrFaults(v4.map(asFaults)) : v4;
}

export const values = fieldKeys({
  schemas: {
    values: textKey(
      "A value kind of `pack.yaml`, for both directions, applied after `read` and `write`.",
      "state",
    ),
    arguments: about(
      z.record(z.string(), z.json()).optional(),
      "Arguments of the value kind: variables of its expressions.",
      { default: 90 },
    ),
  },
  rules: {
    arguments: [
      states((facts) => !has(facts, "values"), '"arguments" belong to a value kind: "values" is missing'),
    ],
  },
  read({ values: name, arguments: args = {} }, context, location) {
    const kind = findKind(name, context, location);
    return kind ? [cachedReader(kind, args, location)] : [];
  },
  write({ values: name, arguments: args = {} }, context, location) {
    const kind = findKind(name, context, location);
    if (!kind) return undefined;
    const convert = applyValueKind(kind.write, args);
    const { origin } = location;
    return {
      run: (value) =>
        thenMaybe(
          evaluateFor(origin, () => convert(value)),
          asFaults,
        ),
      needsWhole: true,
    };
  },
  filter({ values: name, arguments: args = {} }, { values: kinds }, location) {
    const kind = name === undefined ? undefined : kinds.get(name);
    if (name === undefined || !kind) return {};
    const { filterValues, keepsOrder } = kind;
    if (!filterValues && !location.isRemoved(name))
      location.report(
        `"${name}" has no table in "read" and no JSONata in "write" that can be compiled: a filter needs the upstream's value`,
      );
    return {
      ...(filterValues && { translate: (value) => filterValues(value, args) }),
      ...(keepsOrder ? { tests: "order" } : { ordered: false }),
    };
  },
  error: ({ values: name = "" }, { values: kinds }) => ({ error: kinds.get(name)?.errorField }),
  classOf: ({ values: name }) => (name === undefined ? undefined : "value"),
  texts({ values: name }) {
    const text = `mapped by the value table ${name}`;
    return name === undefined ? [] : [{ read: text, write: text }];
  },
});
