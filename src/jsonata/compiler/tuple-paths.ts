import type { Node } from "../ast.ts";
import { NotCompiled, quote, type Code } from "./code.ts";
import { tupleScope } from "./frames.ts";
import { groupingOf, pairsOf } from "./grouping.ts";
import { functionOf, positionOf, type Scope } from "./scope.ts";
import { keepsOne, nameIn, stagesOf, stepItself, termsOf } from "./steps.ts";

/** Paths that bind variables on their way, with `@$v` and `#$i`. */

interface Stream {
  readonly js: string;
  readonly tuples: boolean;
  /** Steps have been gone before the first that binds. */
  readonly started: boolean;
  /** Variables bound so far. */
  readonly names: readonly string[];
}

/** A function of a thing and the tuple it stands in. */
function tupleClosure(
  part: Node,
  names: readonly string[],
  scope: Scope,
  write: (inner: Scope) => string,
): string {
  const context = scope.unit.name("c");
  const tuple = scope.unit.name("u");
  return functionOf(scope, [context, tuple], (inner) =>
    write(tupleScope({ ...inner, context, single: false }, tuple, names, part)),
  );
}

const bound = (node: Node, part: "focus" | "index"): string | undefined => node[part] as string | undefined;

const binds = (step: Node): boolean => step["tuple"] === true;

/** Names that a step binds, the parser's own name of a parent among them. */
function boundBy(node: Node): Readonly<Record<string, string>> {
  const parent = (node["ancestor"] as { readonly label: string } | undefined)?.label;
  const names = { focus: bound(node, "focus"), index: bound(node, "index"), parent };
  // `@$` without a name binds the context itself.
  if (Object.values(names).includes("")) throw new NotCompiled("a binding without a name");
  return JSON.parse(JSON.stringify(names)) as Record<string, string>;
}

function withStages({ js, names }: Stream, node: Node, scope: Scope): Stream {
  const { unit } = scope;
  return stagesOf(node).reduce<Stream>(
    (stream, { type, expr, value }) => {
      if (type === "index")
        return {
          ...stream,
          js: `${unit.use("tupleIndex")}(${stream.js}, ${quote(value)})`,
          names: [...stream.names, value],
        };
      if (expr.type === "number")
        return { ...stream, js: `${unit.use("tupleNth")}(${stream.js}, ${String(expr.value)})` };
      const predicate = tupleClosure(expr, stream.names, scope, (inner) => unit.emit(expr, inner).js);
      return { ...stream, js: `${unit.use("tupleFilter")}(${stream.js}, ${predicate})` };
    },
    { js, names, tuples: true, started: true },
  );
}

function sortStep(stream: Stream, node: Node, scope: Scope): Stream {
  const { unit } = scope;
  const position = positionOf(node, scope);
  const order = (list: string, terms: string) => `${unit.use("orderBy")}(${list}, ${terms}, ${position})`;
  if (stream.tuples) {
    const terms = termsOf(node, (term) => {
      const evaluate = tupleClosure(term, stream.names, scope, (inner) => unit.emit(term, inner).js);
      const tuple = unit.name("u");
      return `(${tuple}) => (${evaluate})(${tuple}["@"], ${tuple})`;
    });
    return withStages({ ...stream, js: order(stream.js, terms) }, node, scope);
  }
  const terms = termsOf(node, (term) => tupleClosure(term, [], scope, (inner) => unit.emit(term, inner).js));
  const list = `${unit.use("tuples")}(${order(stream.js, terms)}, true)`;
  const index = bound(node, "index");
  const numbered = index === undefined ? list : `${unit.use("tupleIndex")}(${list}, ${quote(index)})`;
  return withStages(
    { js: numbered, names: index === undefined ? [] : [index], tuples: true, started: true },
    node,
    scope,
  );
}

function tupleStep(stream: Stream, node: Node, scope: Scope): Stream {
  if (node.type === "sort") return sortStep(stream, node, scope);
  const { unit } = scope;
  const tuples = stream.tuples ? stream.js : `${unit.use("tuples")}(${stream.js}, ${stream.started})`;
  const evaluate = tupleClosure(node, stream.names, scope, (inner) =>
    node.type === "name" ? nameIn(node, inner) : unit.emit(stepItself(node), inner).js,
  );
  const names = boundBy(node);
  const more = Object.values(names);
  const js = `${unit.use("tupleStep")}(${tuples}, ${evaluate}, ${JSON.stringify(names)})`;
  return withStages({ js, names: [...stream.names, ...more], tuples: true, started: true }, node, scope);
}

/** The steps before the first that binds, which find a list. */
function plainSteps(steps: readonly Node[], scope: Scope): string {
  const { unit, context } = scope;
  const first = steps[0] as Node;
  const leading = steps.slice(0, steps.findIndex(binds));
  if (first["consarray"]) throw new NotCompiled("variables bound on a path from an array constructor");
  if (leading.length > 0) {
    const list = unit.emit({ type: "path", steps: leading, keepSingletonArray: true }, scope).js;
    return `${unit.use("items")}(${list})`;
  }
  return first.type === "variable" ? `[${context}]` : `${unit.use("contextItems")}(${context})`;
}

export function emitTuplePath(node: Node, scope: Scope): Code {
  const { unit } = scope;
  const steps = node["steps"] as readonly Node[];
  if (node["tuple"] || steps.some((step) => ["path", "block"].includes(step.type) && step["ancestor"]))
    throw new NotCompiled("a parent that is sought through a nested path");
  const binding = steps.slice(steps.findIndex(binds));
  const start: Stream = {
    js: plainSteps(steps, scope),
    names: [],
    tuples: false,
    started: !binds(steps[0] as Node),
  };
  const { js, names } = binding.reduce((stream, step) => tupleStep(stream, step, scope), start);
  const grouping = groupingOf(node);
  if (grouping) {
    const pairs = pairsOf(grouping.lhs, scope, (part, general) =>
      tupleClosure(part, names, general, (inner) => unit.emit(part, inner).js),
    );
    return {
      js: `${unit.use("groupTuples")}(${js}, ${pairs}, ${positionOf(grouping, scope)})`,
      kind: "value",
    };
  }
  const found = `${unit.use("untupled")}(${js})`;
  return { js: `${unit.use(keepsOne(node) ? "keep" : "collapse")}(${found})`, kind: "value" };
}
