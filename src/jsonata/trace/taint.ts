/** Which nodes of an expression have values that come from a secret: decided by the names that they read. */
import { asNode, childrenOf, isNode, pairsOf, type AstNode } from "../ast.ts";

/** Identifies a node, also one that the compiler has copied without its predicates. */
const keyOf = ({ type, value, position }: AstNode): string => `${type} ${position} ${String(value)}`;

/** The nodes and variables that are known to be secret so far. Both only grow. */
class TaintSearch {
  readonly nodes = new Set<unknown>();
  /** Nodes that were visited, and their keys. */
  readonly known = new Set<unknown>();
  readonly #variables = new Set<string>();
  #areParametersSecret = false;
  readonly #isSecret: (name: string) => boolean;
  hasChanged = false;

  constructor(isSecret: (name: string) => boolean) {
    this.#isSecret = isSecret;
  }

  #add(to: Set<unknown>, node: AstNode): void {
    to.add(node);
    if (node.position !== undefined) to.add(keyOf(node));
  }

  #addVariable(name: unknown): void {
    if (typeof name !== "string" || this.#variables.has(name)) return;
    this.#variables.add(name);
    this.hasChanged = true;
  }

  /** @param isContextSecret whether JSONata's `$` is secret here */
  visit(node: AstNode, isContextSecret: boolean): boolean {
    // What is evaluated below a secret may be made of it, by functions that read their context.
    const isTainted = this.#isTainted(node, isContextSecret) || isContextSecret;
    this.#add(this.known, node);
    if (isTainted) {
      this.#add(this.nodes, node);
      for (const name of ["focus", "index"]) this.#addVariable(node[name]);
    }
    return isTainted;
  }

  #isTainted(node: AstNode, isContextSecret: boolean): boolean {
    const { type, value } = node;
    if (type === "path") return this.#visitPath(node, isContextSecret);
    if (type === "lambda") return this.#visitLambda(node, isContextSecret);
    const isBelow = this.#visitParts(node, isContextSecret);
    if (type === "name" || type === "string") return this.#isSecret(String(value)) || isBelow;
    if (type === "variable")
      return this.#variables.has(String(value)) || this.#isSecret(String(value)) || isBelow;
    if (type === "bind" && isBelow) this.#addVariable(asNode(node["lhs"]).value);
    // Any function of the expression may get the secret as its argument.
    if ((type === "function" || type === "apply" || type === "partial") && isBelow) this.#taintParameters();
    return isBelow;
  }

  #taintParameters(): void {
    if (!this.#areParametersSecret) this.hasChanged = true;
    this.#areParametersSecret = true;
  }

  #visitPath(node: AstNode, isContextSecret: boolean): boolean {
    const { steps, ...others } = node;
    let isSecret = isContextSecret;
    for (const step of childrenOf({ type: "path", steps }, "steps"))
      isSecret = this.visit(step, isSecret) || isSecret;
    return this.#visitParts(others, isSecret) || isSecret;
  }

  #visitLambda(node: AstNode, isContextSecret: boolean): boolean {
    if (this.#areParametersSecret && node["thunk"] !== true)
      for (const { value } of childrenOf(node, "arguments")) this.#addVariable(value);
    return this.visit(asNode(node["body"]), isContextSecret);
  }

  /** Visits all nodes directly below. The value of a member with a secret name is secret. */
  #visitParts(node: AstNode | Omit<AstNode, "steps">, isContextSecret: boolean): boolean {
    let isSecret = false;
    const visitPart = (part: unknown): void => {
      if (Array.isArray(part)) return part.forEach(visitPart);
      if (isNode(part)) isSecret = this.visit(part, isContextSecret) || isSecret;
      else if (typeof part === "object" && part !== null) Object.values(part).forEach(visitPart);
    };
    for (const [name, part] of Object.entries(node))
      if (name !== "slot" && name !== "ancestor" && name !== "lhs") visitPart(part);
    const { lhs, group } = node as AstNode;
    if (!Array.isArray(lhs)) visitPart(lhs);
    for (const pairs of [pairsOf({ type: "", lhs }), pairsOf({ type: "", ...(group as object) })])
      for (const [key, value] of pairs) {
        const isKeySecret = this.visit(key, isContextSecret);
        const isValueSecret = this.visit(value, isContextSecret || isKeySecret);
        if (isKeySecret) this.#taintAll(value);
        isSecret = isSecret || isKeySecret || isValueSecret;
      }
    return isSecret;
  }

  #taintAll(part: unknown): void {
    if (Array.isArray(part)) return part.forEach((item) => this.#taintAll(item));
    if (typeof part !== "object" || part === null) return;
    if (isNode(part)) this.#add(this.nodes, part);
    for (const inner of Object.values(part)) this.#taintAll(inner);
  }
}

/**
 * Finds the nodes whose values come from a secret: a member or a variable with a secret name, what is computed with one, and
 * what is below one. In doubt a node is secret: all parameters of functions are, once an argument of one call is.
 *
 * @returns Whether the value of a node is secret.
 */
export function findTaint(ast: AstNode, isSecret: (name: string) => boolean): (node: AstNode) => boolean {
  const search = new TaintSearch(isSecret);
  do {
    search.hasChanged = false;
    search.visit(ast, false);
  } while (search.hasChanged);
  const isIn = (nodes: ReadonlySet<unknown>, node: AstNode): boolean =>
    nodes.has(node) || (node.position !== undefined && nodes.has(keyOf(node)));
  return (node) => isIn(search.nodes, node) || !isIn(search.known, node);
}
