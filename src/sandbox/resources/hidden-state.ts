/** State of a row that no response shows, and the types of tokens and grants. */

export type Level = "read_only" | "read_write";

/** Entity kind as the grants object names it, e.g. `domain`. */
export type GrantKind = string;

/** Grants of a restricted user: a level per entity id. A missing entry means no access. */
export interface Grants {
  global: Record<string, unknown>;
  entities: Record<GrantKind, Record<number, Level>>;
}

/** A usable token: its user, scopes and expiry. */
export type TokenAccess = {
  readonly user: string;
  readonly scopes: readonly string[];
  /** Milliseconds since 1970; null means until it is revoked. */
  readonly expires: number | null;
  /** Source of the token: a personal token, an authorized app or an OAuth client. */
  readonly token?: number;
  readonly app?: number;
  readonly client?: string;
  /** The OAuth code that it was issued for. */
  readonly code?: string;
};

/** An OAuth code with the scopes that the user granted. It can be used once and is kept until it expires. */
export type ExchangeCode = {
  readonly user: string;
  readonly client: string;
  readonly scopes: readonly string[];
  used: boolean;
  /** Milliseconds since 1970. */
  readonly expires: number;
};

export interface Hidden {
  grants?: Grants;
  /** Start and end of a running event, in milliseconds. */
  progress?: { readonly began: number; readonly ends: number };
  secret?: string;
  /** Id of the configuration profile that was booted last. */
  config?: number;
  /** Date-time of the planned host migration. */
  migration?: string;
  /** Set on a region without free hardware upgrades. */
  noUpgrades?: true;
  /** Addresses of other instances that this one may use (IP failover). */
  shared?: string[];
  /** base64. */
  picture?: string;
  /** Id of the cluster node that the instance implements. */
  node?: string;
  /** End times of the running clone jobs of an instance, in milliseconds. */
  clones?: number[];
  expires?: number;
  /** When the next automatic backup of an instance begins, in milliseconds. */
  nextBackup?: number;
  /** MB reserved for a disk while it is resized. */
  reserved?: number;
}
