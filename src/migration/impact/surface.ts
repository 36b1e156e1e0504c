/** The inputs and outputs of an API that clients can send and receive. */

/** A value that a client sends or receives: a member of a body, a parameter, or a field of a filter. */
export interface Place {
  /** Whether the value is always present. */
  readonly required: boolean;
  /** JSON types; empty if any type is allowed. `integer` is also a `number`. */
  readonly types: ReadonlySet<string>;
  /** The types of the items of a list. */
  readonly items: ReadonlySet<string>;
  /** The allowed words; undefined if any value is allowed. */
  readonly words: ReadonlySet<string> | undefined;
  /** Limits such as `maxLength`, `minimum` and `pattern`. */
  readonly limits: Readonly<Record<string, string | number>>;
}

/** An operation of a client or of the upstream. */
export interface Operation {
  /** The name in the notation of documents, `GET /books/{id}`, or in the notation of the pack. */
  readonly name: string;
  /** The places of a request: `body.label`, `query.page`, `header.Accept`, `filter.status`. */
  readonly request: ReadonlyMap<string, Place>;
  /** The places of a response: `answer.label`. */
  readonly answer: ReadonlyMap<string, Place>;
  /** The statuses of successful responses. */
  readonly successes: ReadonlySet<string>;
  /** The statuses of errors. */
  readonly errors: ReadonlySet<string>;
  /** The scopes that a token needs; undefined if no token is needed. */
  readonly scopes: ReadonlySet<string> | undefined;
  /** Whether the operation is marked as deprecated. */
  readonly isDeprecated: boolean;
}

/** All operations by name, without the names of path parameters: `GET /books/{}`. */
export type Surface = ReadonlyMap<string, Operation>;

/** Returns the name of an operation without the names of its path parameters, which are irrelevant. */
export const operationKey = (name: string): string =>
  name.replaceAll(/\{[^{}/]*\}|(?<=\/):\w+/g, "{}").replace(/(?<=[^ ])\/$/, "");
