/** Hidden state of rows that responses never contain, and the types of tokens and grants. */

export type Level = "read_only" | "read_write";

/** Kind of an entity, as the grants object names it, e.g. `domain`. */
export type GrantKind = string;

/** Grants of a restricted user: an access level per entity id. A missing entry means no access. */
export interface Grants {
  global: Record<string, unknown>;
  entities: Record<GrantKind, Record<number, Level>>;
}

/** A usable token: its user, scopes and expiry. */
export type TokenAccess = {
  readonly user: string;
  readonly scopes: readonly string[];
  /** Expiry in milliseconds since 1970; null if the token is valid until it is revoked. */
  readonly expires: number | null;
  /** Source of the token: a personal token or an OAuth client. */
  readonly token?: number;
  readonly client?: string;
  /** The OAuth code for which the token was issued. */
  readonly code?: string;
};

/** An OAuth code with the scopes that the user granted. It can be used once and is kept until it expires. */
export type ExchangeCode = {
  readonly user: string;
  readonly client: string;
  readonly scopes: readonly string[];
  used: boolean;
  /** Expiry in milliseconds since 1970. */
  readonly expires: number;
};

export interface Hidden {
  grants?: Grants;
  /** Start and end of a running event, in milliseconds. */
  progress?: { readonly began: number; readonly ends: number };
  secret?: string;
  /** Id of the configuration profile that was booted last. */
  config?: number;
  /** Time of the planned host migration. */
  migration?: string;
  /** Set for a region that offers no free hardware upgrades. */
  noUpgrades?: true;
  /** Addresses of other instances that this one may use (IP failover). */
  shared?: string[];
  /** The image data in base64. */
  picture?: string;
  /** Id of the cluster node that runs on the instance. */
  node?: string;
  /** End times of the running clone jobs of an instance, in milliseconds. */
  clones?: number[];
  expires?: number;
  /** Start of the next automatic backup of an instance, in milliseconds. */
  nextBackup?: number;
  /** Space in MB that a disk occupies while it is resized. */
  reserved?: number;
}
