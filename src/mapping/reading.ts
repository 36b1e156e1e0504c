/** What translating may look at besides the object itself. */

export type JsonObject = Record<string, unknown>;

/** The gateway's copy of v4's catalogs, as mappings see it: alpha objects by v4 id. */
export interface CatalogCopy {
  /** False until a catalog has been read once; until then nothing is known to be unknown. */
  loaded(catalog: string): boolean;
  find(catalog: string, v4Id: string): JsonObject | undefined;
  /** The v4 id as v4 spells it, whatever the case it was asked in. */
  spelling(catalog: string, anyCase: string): string | undefined;
}

export interface Reading {
  readonly catalogs: CatalogCopy;
  /** Answers of the extra reads, by their names in the route; missing where one failed or was not made. */
  readonly with: Readonly<Record<string, unknown>>;
  /** The alpha body of the call, in its documented form, where it had one. */
  readonly sent?: JsonObject | undefined;
}

/** The same on the way out. */
export interface Writing {
  readonly catalogs: CatalogCopy;
  /** Answers of the reads before the call, by their names in the pack. */
  readonly first: Readonly<Record<string, unknown>>;
  /** Values of the path's parameters. */
  readonly path: Readonly<Record<string, string>>;
  /** The client's address. */
  readonly client: string;
}
