/** The inputs and outputs of an API, as far as a client can see them. */

/** A value that a client sends or gets: a member of a body, a parameter, or a field of a filter. */
export interface Place {
  /** Whether it is always there. */
  readonly required: boolean;
  /** JSON types; empty for any. `integer` is a `number` too. */
  readonly types: ReadonlySet<string>;
  /** The types of the items of a list. */
  readonly items: ReadonlySet<string>;
  /** The words that it may have; undefined for any. */
  readonly words: ReadonlySet<string> | undefined;
  /** `maxLength`, `minimum`, `pattern` and such. */
  readonly limits: Readonly<Record<string, string | number>>;
}

/** An operation of a client or of the upstream. */
export interface Operation {
  /** In the notation of documents, `GET /books/{id}`, or in the notation of the pack. */
  readonly name: string;
  /** `body.label`, `query.page`, `header.Accept`, `filter.status`. */
  readonly request: ReadonlyMap<string, Place>;
  /** `answer.label`. */
  readonly answer: ReadonlyMap<string, Place>;
  /** The statuses of successful responses. */
  readonly successes: ReadonlySet<string>;
  /** The statuses of errors. */
  readonly errors: ReadonlySet<string>;
  /** The scopes that a token needs; undefined if it needs no token. */
  readonly scopes: ReadonlySet<string> | undefined;
  /** Whether the operation is marked as deprecated. */
  readonly isDeprecated: boolean;
}

/** All operations by name, without the names of path parameters: `GET /books/{}`. */
export type Surface = ReadonlyMap<string, Operation>;

/** The name of an operation without the names of its path parameters, which don't matter. */
export const operationKey = (name: string): string =>
  name.replaceAll(/\{[^{}/]*\}|(?<=\/):\w+/g, "{}").replace(/(?<=[^ ])\/$/, "");
