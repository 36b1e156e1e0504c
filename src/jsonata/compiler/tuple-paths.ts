import { asNode, childOf, childrenOf, pairsOf, stagesOf, type AstNode } from "../ast.ts";
import { NotCompilableError, quote, type Code } from "./code.ts";
import { tupleScope } from "./frames.ts";
import { groupingOf, emitPairs } from "./grouping.ts";
import { emitFunction, positionOf, type Scope } from "./scope.ts";
import { keepsSingleton, emitNameStep, withoutStages, emitSortTerms } from "./steps.ts";

/** The results of the steps so far: a list, or a stream of tuples with bound variables. */
interface TupleStream {
  readonly js: string;
  readonly hasTuples: boolean;
  /** There were steps before the first binding step. */
  readonly hasStarted: boolean;
  /** Variables bound so far. */
  readonly names: readonly string[];
}

/** Emits a function of an item and its tuple. */
function emitTupleClosure(
  part: AstNode,
  names: readonly string[],
  scope: Scope,
  write: (inner: Scope) => string,
): string {
  const context = scope.unit.createName("c");
  const tuple = scope.unit.createName("u");
  return emitFunction(scope, [context, tuple], (inner) =>
    write(tupleScope({ ...inner, context, isSingle: false }, tuple, names, part)),
  );
}

const bindingName = (node: AstNode, part: "focus" | "index"): string | undefined =>
  node[part] as string | undefined;

const isBindingStep = (step: AstNode): boolean => step["tuple"] === true;

/** Returns the names that a step binds, including the parser's label of a parent. */
function bindingsOf(node: AstNode): Readonly<Record<string, string>> {
  const parent = (node["ancestor"] as { readonly label: string } | undefined)?.label;
  const names = { focus: bindingName(node, "focus"), index: bindingName(node, "index"), parent };
  // `@$` without a name binds the context itself.
  if (Object.values(names).includes("")) throw new NotCompilableError("a binding without a name");
  return JSON.parse(JSON.stringify(names)) as Record<string, string>;
}

function emitStages({ js, names }: TupleStream, node: AstNode, scope: Scope): TupleStream {
  const { unit } = scope;
  return stagesOf(node).reduce<TupleStream>(
    (stream, stage) => {
      const value = String(stage.value);
      if (stage.type === "index")
        return {
          ...stream,
          js: `${unit.useHelper("numberTuples")}(${stream.js}, ${quote(value)})`,
          names: [...stream.names, value],
        };
      const expr = childOf(stage, "expr");
      if (expr.type === "number")
        return { ...stream, js: `${unit.useHelper("pickNthTuple")}(${stream.js}, ${String(expr.value)})` };
      const predicate = emitTupleClosure(expr, stream.names, scope, (inner) => unit.emit(expr, inner).js);
      return { ...stream, js: `${unit.useHelper("filterTuples")}(${stream.js}, ${predicate})` };
    },
    { js, names, hasTuples: true, hasStarted: true },
  );
}

function emitSortStep(stream: TupleStream, node: AstNode, scope: Scope): TupleStream {
  const { unit } = scope;
  const position = positionOf(node, scope);
  const order = (list: string, terms: string) =>
    `${unit.useHelper("orderBy")}(${list}, ${terms}, ${position})`;
  if (stream.hasTuples) {
    const terms = emitSortTerms(node, (term) => {
      const evaluate = emitTupleClosure(term, stream.names, scope, (inner) => unit.emit(term, inner).js);
      const tuple = unit.createName("u");
      return `(${tuple}) => (${evaluate})(${tuple}["@"], ${tuple})`;
    });
    return emitStages({ ...stream, js: order(stream.js, terms) }, node, scope);
  }
  const terms = emitSortTerms(node, (term) =>
    emitTupleClosure(term, [], scope, (inner) => unit.emit(term, inner).js),
  );
  const list = `${unit.useHelper("createTuples")}(${order(stream.js, terms)}, true)`;
  const index = bindingName(node, "index");
  const numbered = index === undefined ? list : `${unit.useHelper("numberTuples")}(${list}, ${quote(index)})`;
  return emitStages(
    { js: numbered, names: index === undefined ? [] : [index], hasTuples: true, hasStarted: true },
    node,
    scope,
  );
}

function emitTupleStep(stream: TupleStream, node: AstNode, scope: Scope): TupleStream {
  if (node.type === "sort") return emitSortStep(stream, node, scope);
  const { unit } = scope;
  const tuples = stream.hasTuples
    ? stream.js
    : `${unit.useHelper("createTuples")}(${stream.js}, ${stream.hasStarted})`;
  const evaluate = emitTupleClosure(node, stream.names, scope, (inner) =>
    node.type === "name" ? emitNameStep(node, inner) : unit.emit(withoutStages(node), inner).js,
  );
  const names = bindingsOf(node);
  const more = Object.values(names);
  const js = `${unit.useHelper("applyTupleStep")}(${tuples}, ${evaluate}, ${JSON.stringify(names)})`;
  return emitStages(
    { js, names: [...stream.names, ...more], hasTuples: true, hasStarted: true },
    node,
    scope,
  );
}

/** Emits the steps before the first binding step. Their result is a list. */
function emitLeadingSteps(steps: readonly AstNode[], scope: Scope): string {
  const { unit, context } = scope;
  const first = asNode(steps[0]);
  const leading = steps.slice(0, steps.findIndex(isBindingStep));
  if (first["consarray"]) throw new NotCompilableError("variables bound on a path from an array constructor");
  if (leading.length > 0) {
    const list = unit.emit({ type: "path", steps: leading, keepSingletonArray: true }, scope).js;
    return `${unit.useHelper("listItems")}(${list})`;
  }
  return first.type === "variable" ? `[${context}]` : `${unit.useHelper("listContextItems")}(${context})`;
}

/**
 * Emits a path that binds variables with `@$v` or `#$i`, or whose parents are read with `%`.
 *
 * @throws {NotCompilableError} If a parent is reached through a nested path.
 */
export function emitTuplePath(node: AstNode, scope: Scope): Code {
  const { unit } = scope;
  const steps = childrenOf(node, "steps");
  if (node["tuple"] || steps.some((step) => ["path", "block"].includes(step.type) && step["ancestor"]))
    throw new NotCompilableError("a parent that is sought through a nested path");
  const binding = steps.slice(steps.findIndex(isBindingStep));
  const start: TupleStream = {
    js: emitLeadingSteps(steps, scope),
    names: [],
    hasTuples: false,
    hasStarted: !isBindingStep(asNode(steps[0])),
  };
  const { js, names } = binding.reduce((stream, step) => emitTupleStep(stream, step, scope), start);
  const grouping = groupingOf(node);
  if (grouping) {
    const pairs = emitPairs(pairsOf(grouping), scope, (part, general) =>
      emitTupleClosure(part, names, general, (inner) => unit.emit(part, inner).js),
    );
    return {
      js: `${unit.useHelper("groupTuples")}(${js}, ${pairs}, ${positionOf(grouping, scope)})`,
      kind: "value",
    };
  }
  const found = `${unit.useHelper("valuesOfTuples")}(${js})`;
  return {
    js: `${unit.useHelper(keepsSingleton(node) ? "collapsePathKeepingList" : "collapse")}(${found})`,
    kind: "value",
  };
}
