import type { Fault } from "../dialect/refusal.ts";
import { whenDone, type MaybeLater } from "../expression/index.ts";
import { compileFaults } from "./checks.ts";
import type { PreliminaryDefinition } from "./definition.ts";
import type { RouteDefinition } from "./route-definition.ts";
import { compileEndpoint, type Endpoint } from "./endpoint.ts";
import { expressionAt, type Place } from "./place.ts";
import type { JsonObject } from "./reading.ts";

/** A read before the call, for rules and values that only v4's data can give. */
export interface Preliminary {
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly needed: (body: JsonObject) => MaybeLater<boolean>;
  /** The alpha member to blame when v4 does not know what is read; undefined: v4's refusal is the answer. */
  readonly blames: string | undefined;
  /** Faults of the alpha body, seen beside what was read and what goes to v4. */
  readonly check: (body: JsonObject, read: unknown, v4: JsonObject) => MaybeLater<Fault[]>;
}

/** A read that is repeated until it shows what the call has to wait for. */
export interface Wait {
  readonly endpoint: Endpoint;
  readonly until: (answer: unknown) => MaybeLater<boolean>;
  /** The same as the pack writes it. */
  readonly condition: string;
  readonly everyMs: number;
  readonly mostMs: number;
}

/** A read after the call, whose answer is the answer. */
export interface FollowUp {
  readonly endpoint: Endpoint;
  /** Alpha's body when it fails: the call itself did happen. */
  readonly otherwise: (call: unknown, path: Readonly<Record<string, string>>) => MaybeLater<unknown>;
}

/** A read besides the call, whose answer some fields are made from. */
export interface ExtraRead {
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly needed: (answer: unknown) => MaybeLater<boolean>;
  /** The same as the pack writes it; undefined where it is always read. */
  readonly condition: string | undefined;
}

const always = () => true;

/** Compiles a condition over the value that it is given. */
export function condition(
  source: string | undefined,
  place: Place,
): ((value: unknown) => MaybeLater<boolean>) | undefined {
  if (source === undefined) return undefined;
  const expression = expressionAt(place, source, []);
  return (value) => whenDone(expression.evaluate(value, {}), Boolean);
}

export function compileWait(
  definition: RouteDefinition["wait"],
  parameters: readonly string[],
  prefix: string,
  place: Place,
): Wait | undefined {
  if (!definition) return undefined;
  return {
    endpoint: compileEndpoint(definition.v4, prefix, parameters, place.at("v4")),
    until: condition(definition.until, place.at("until")) ?? always,
    condition: definition.until,
    everyMs: definition.every_ms,
    mostMs: definition.most_ms,
  };
}

export function compileFollowUp(
  definition: RouteDefinition["after"],
  parameters: readonly string[],
  prefix: string,
  place: Place,
): FollowUp | undefined {
  if (!definition) return undefined;
  const otherwise = expressionAt(place.at("else"), definition.else, ["path"]);
  return {
    endpoint: compileEndpoint(definition.v4, prefix, parameters, place.at("v4")),
    otherwise: (call, path) => otherwise.evaluate(call, { path }),
  };
}

export function compilePreliminary(
  name: string,
  definition: PreliminaryDefinition,
  body: readonly string[],
  prefix: string,
  place: Place,
): Preliminary {
  const faults = compileFaults(definition.checks ?? [], ["read", "v4"], place.at("checks"));
  return {
    name,
    endpoint: compileEndpoint(definition.v4, prefix, body, place.at("v4")),
    needed: condition(definition.when, place.at("when")) ?? always,
    blames: definition.unknown,
    check: (sent, read, v4) => faults(sent, { read, v4 }),
  };
}

export function compileExtraReads(
  definition: RouteDefinition,
  parameters: readonly string[],
  prefix: string,
  place: Place,
): ExtraRead[] {
  return Object.entries(definition.with ?? {}).map(([name, { v4, when }]) => {
    const at = place.at("with", name);
    const endpoint = compileEndpoint(v4, prefix, parameters, at.at("v4"));
    if (endpoint.method !== "GET") at.at("v4").fault("an extra read must be a GET");
    return { name, endpoint, needed: condition(when, at.at("when")) ?? always, condition: when };
  });
}
