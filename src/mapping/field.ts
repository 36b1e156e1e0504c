import { normaliseDateTime } from "../dialect/date-time.ts";
import { all, whenDone, type MaybeLater } from "../expression/index.ts";
import type { Catalog } from "./catalog.ts";
import type { FieldRule } from "./definition.ts";
import { networkAddress } from "./ip-address.ts";
import { getter } from "./paths.ts";
import { expressionAt, refer, type Place } from "./place.ts";
import type { JsonObject, Reading, Writing } from "./reading.ts";
import { applied, type ValueKind } from "./values.ts";

/** From a v4 object to the value of one alpha field. */
export type Read = (v4: unknown, reading: Reading) => MaybeLater<unknown>;

/** From a member of an alpha body to the value of one v4 member; undefined is not sent. */
export type Write = (value: unknown, body: JsonObject, writing: Writing) => MaybeLater<unknown>;

/** What a write gives for an id that no catalog knows. */
export const UNKNOWN_RECORD = Symbol("unknown record");

/** What rules may refer to. Readers are looked up when they run, since resources refer to each other. */
export interface FieldContext {
  readonly values: ReadonlyMap<string, ValueKind>;
  readonly catalogs: ReadonlyMap<string, Catalog>;
  readonly readers: ReadonlyMap<string, Read>;
  readonly resources: ReadonlyMap<string, unknown>;
  readonly lookup: (kind: string, value: unknown) => unknown;
  /** v4's scopes in alpha's words, so far as they were asked for. */
  readonly scopesOf: (v4: unknown, asked: unknown) => unknown;
  /** Alpha's scopes in v4's words. */
  readonly scopesFor: (alpha: unknown) => unknown;
}

type Stage = (value: unknown, v4: unknown, reading: Reading) => MaybeLater<unknown>;

/** As long as the form itself: there is no fraction and no zone to take off. */
const NORMAL_LENGTH = "YYYY-MM-DDTHH:MM:SS".length;

const dateTime: Stage = (value) =>
  typeof value === "string" && value.length !== NORMAL_LENGTH ? (normaliseDateTime(value) ?? value) : value;

const READ_VARIABLES = ["value", "with", "values", "networkOf", "sent", "scopesOf"];

function source(rule: FieldRule, context: FieldContext, place: Place): Read {
  if (rule.const !== undefined) return () => rule.const;
  const pick = rule.v4 === undefined ? () => undefined : getter(rule.v4);
  if (rule.read === undefined) return pick;
  const expression = expressionAt(place.at("read"), rule.read, READ_VARIABLES);
  const functions = { values: context.lookup, networkOf: networkAddress, scopesOf: context.scopesOf };
  return (v4, reading) =>
    expression.evaluate(v4, { value: pick(v4), with: reading.with, sent: reading.sent, ...functions });
}

/** What happens to a value after it was found, in this order. */
function stages(rule: FieldRule, context: FieldContext, place: Place): Stage[] {
  const list: Stage[] = [];
  if (rule.type === "date-time") list.push(dateTime);
  if (rule.as !== undefined) {
    const kind = refer(place.at("as"), "value kind", rule.as, context.values);
    const read = applied(kind?.read ?? ((value) => value), rule.args ?? {});
    list.push((value) => read(value));
  }
  if (rule.catalog !== undefined) {
    const catalog = refer(place.at("catalog"), "catalog", rule.catalog, context.catalogs);
    if (catalog && rule.brief)
      list.push((value) => (typeof value === "string" ? catalog.alphaId(value) : value));
    else if (catalog) {
      list.push((value, v4, reading) =>
        Array.isArray(value) ? catalog.expandAll(value, reading) : catalog.expand(value, v4, reading),
      );
    }
  }
  if (rule.object !== undefined) {
    const name = rule.object;
    refer(place.at("object"), "object", name, context.resources);
    const one = (value: unknown, reading: Reading) => context.readers.get(name)?.(value, reading);
    list.push((value, _v4, reading) => {
      if (Array.isArray(value)) return all(value.map((item) => one(item, reading)));
      return value === null || value === undefined ? null : one(value, reading);
    });
  }
  if (rule.array === true) list.push((value) => (value === null || value === undefined ? [] : [value]));
  return list;
}

/** Compiles the way of one field from v4 to alpha. A value that is missing in v4 is `or`, else null. */
export function compileRead(rule: FieldRule, context: FieldContext, place: Place): Read {
  const find = source(rule, context, place);
  const neutral = rule.or ?? null;
  const steps = stages(rule, context, place);
  const [first, ...rest] = steps;
  if (first === undefined) return (v4, reading) => whenDone(find(v4, reading), (value) => value ?? neutral);
  return (v4, reading) => {
    let value = whenDone(find(v4, reading), (found) => first(found, v4, reading));
    for (const step of rest) value = whenDone(value, (found) => step(found, v4, reading));
    return whenDone(value, (found) => found ?? neutral);
  };
}

/** Compiles the way of one member of a body from alpha to v4. Null passes: it is there because it means something. */
export function compileWrite(rule: FieldRule, context: FieldContext, place: Place): Write {
  const kind = rule.as === undefined ? undefined : context.values.get(rule.as);
  const catalog = rule.catalog === undefined ? undefined : context.catalogs.get(rule.catalog);
  const expression =
    rule.write === undefined
      ? undefined
      : expressionAt(place.at("write"), rule.write, ["value", "values", "first", "client", "scopesFor"]);
  const convert = kind && applied(kind.write, rule.args ?? {});
  const idOf = (value: unknown, { catalogs }: Writing): unknown =>
    catalog && typeof value === "string" ? (catalog.v4Id(value, catalogs) ?? UNKNOWN_RECORD) : value;
  const toId = (value: unknown, writing: Writing): unknown => {
    if (!catalog || !Array.isArray(value)) return idOf(value, writing);
    const ids = value.map((each) => idOf(each, writing));
    return ids.includes(UNKNOWN_RECORD) ? UNKNOWN_RECORD : ids;
  };
  return (value, body, writing) => {
    const { first, client } = writing;
    const written = expression
      ? expression.evaluate(body, {
          value,
          values: context.lookup,
          first,
          client,
          scopesFor: context.scopesFor,
        })
      : value;
    return whenDone(convert ? convert(written) : written, (found) => toId(found, writing));
  };
}
