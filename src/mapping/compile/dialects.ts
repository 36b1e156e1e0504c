/** What a pack says about both dialects as a whole, compiled. */
import { createErrorFormat, type ErrorFormat } from "../../dialect/errors.ts";
import {
  createListParser,
  createListWriter,
  type ListWriter,
  type ParseListBody,
} from "../../dialect/envelope.ts";
import { createGrammar, type Grammar } from "../../dialect/filter/grammar.ts";
import { namesIn, type Shape } from "../../dialect/shape.ts";
import { createStatuses, type Statuses } from "../../dialect/statuses.ts";
import type { SourceLocation } from "../load/source-location.ts";
import { suggestionFor } from "../load/suggest.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";

/** The compiled dialects of a pack. */
export interface Dialects {
  readonly statuses: Statuses;
  /**
   * The scheme of requests in the upstream's own dialect, which are forwarded without translation. Undefined if clients use
   * the same scheme, so that it does not distinguish them.
   */
  readonly nativeScheme: string | undefined;
  readonly errors: { readonly client: ErrorFormat; readonly upstream: ErrorFormat };
  /** Undefined if clients can't filter. */
  readonly grammar: Grammar | undefined;
  readonly paging: Paging;
  /** The shapes of lists. */
  readonly lists: { readonly client: Shape; readonly upstream: Shape };
  /** Parses the upstream's lists. */
  readonly parseList: ParseListBody;
  /** Returns the writer of the client's lists of a name. */
  readonly listWriter: (list: string) => ListWriter;
}

/** How clients ask for a page of a list, and how the gateway asks the upstream. */
export interface Paging {
  /** The client's query parameter; undefined if its lists have no pages. */
  readonly parameter: string | undefined;
  /** Number of items of the client's page. */
  readonly size: number;
  /** Number of items of the upstream's largest page. */
  readonly largest: number;
  /** Returns the upstream's query for a page. */
  readonly query: (page: number, size: number) => string;
}

/** Number of items where the pack gives none. */
const UNPAGED = 1000;

function compilePaging({ client, upstream }: DialectDefinition): Paging {
  const { pagination } = upstream;
  const largest = pagination?.size.maximum ?? UNPAGED;
  return {
    parameter: client.pagination?.parameter,
    size: client.pagination?.size ?? largest,
    largest,
    query: pagination
      ? (page, size) => `${pagination.parameter}=${page}&${pagination.size.parameter}=${size}`
      : () => "",
  };
}

function nativeSchemeOf({ client, upstream }: DialectDefinition): string | undefined {
  const [scheme, native] = [client.credentials?.scheme, upstream.credentials?.scheme];
  return scheme === undefined || scheme.toLowerCase() === native?.toLowerCase() ? undefined : native;
}

/** The shapes of a dialect that writes none. */
const DEFAULT_LIST: Shape = "$items";
const DEFAULT_ERROR: Shape = { message: "$message" };

const LIST_NAMES = ["items", "page", "pages", "total", "list"];
const ERROR_NAMES = ["message", "field", "pointer", "code", "status"];

/** Reports names that a shape can't have, and a name that it needs. */
function checkShape(
  shape: Shape,
  names: readonly string[],
  required: string,
  location: SourceLocation,
): void {
  const found = namesIn(shape).map(({ name }) => name);
  for (const name of found.filter((each) => !names.includes(each)))
    location.report({
      message: `unknown name "$${name}"`,
      hint: suggestionFor(
        `$${name}`,
        names.map((each) => `$${each}`),
      ),
    });
  if (!found.includes(required)) location.report(`"$${required}" is missing`);
}

/** A list of the upstream may have this many times the rows of its largest page. A longer one is invalid, and costs too much. */
const MAX_PAGES_IN_ONE = 10;

/** Compiles the filter grammar. Reports its problems at the operators. */
function compileGrammar(
  { client, upstream }: DialectDefinition,
  location: SourceLocation,
): Grammar | undefined {
  if (!client.filters) return undefined;
  try {
    return createGrammar(client.filters, upstream.filters?.operators ?? {});
  } catch (error) {
    location.at("client", "filters", "operators").report((error as Error).message);
    return undefined;
  }
}

/** Compiles what a pack says about both dialects as a whole. */
export function compileDialects(definition: DialectDefinition, location: SourceLocation): Dialects {
  const { client, upstream, errors } = definition;
  const shapes = [client, upstream].map(({ responses: { list = DEFAULT_LIST, error = DEFAULT_ERROR } }) => ({
    list,
    error,
  }));
  const [clientShapes, upstreamShapes] = [shapes[0], shapes[1]];
  for (const [side, shape] of [
    ["client", clientShapes],
    ["upstream", upstreamShapes],
  ] as const) {
    const at = location.at(side, "responses");
    checkShape(shape?.list, LIST_NAMES, "items", at.at("list"));
    checkShape(shape?.error, ERROR_NAMES, "message", at.at("error"));
  }
  const paging = compilePaging(definition);
  const writers = new Map<string, ListWriter>();
  return {
    statuses: createStatuses(errors),
    nativeScheme: nativeSchemeOf(definition),
    errors: {
      client: createErrorFormat(clientShapes?.error),
      upstream: createErrorFormat(upstreamShapes?.error),
    },
    grammar: compileGrammar(definition, location),
    paging,
    lists: { client: clientShapes?.list, upstream: upstreamShapes?.list },
    parseList: createListParser(upstreamShapes?.list, MAX_PAGES_IN_ONE * paging.largest),
    listWriter(list) {
      const writer = writers.get(list) ?? createListWriter(clientShapes?.list, list);
      writers.set(list, writer);
      return writer;
    },
  };
}
