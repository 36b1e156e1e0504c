/** What rows keep beside the object that clients see, and what tokens and grants let people do. */

export type Level = "read_only" | "read_write";

/** What single grants are given for, as the grants object calls it. */
export type GrantKind = string;

/** Of a restricted user. Levels by the number of the entity; what is not here is not granted. */
export interface Grants {
  global: Record<string, boolean | string | null>;
  entities: Record<GrantKind, Record<number, Level>>;
}

/** What one token lets its user do. */
export interface TokenAccess {
  readonly user: string;
  readonly scopes: readonly string[];
  /** Milliseconds since 1970; null: until it is revoked. */
  readonly expires: number | null;
  /** The personal token, the application or the client behind it. */
  readonly token?: number;
  readonly app?: number;
  readonly client?: string;
  /** The exchange code that it was given for. */
  readonly code?: string;
}

/** An exchange code: what a user let a client do. Used once; it is remembered until its end. */
export interface ExchangeCode {
  readonly user: string;
  readonly client: string;
  readonly scopes: readonly string[];
  used: boolean;
  /** Milliseconds since 1970. */
  readonly expires: number;
}

export interface Hidden {
  grants?: Grants;
  /** Of an event under way, in milliseconds. */
  progress?: { readonly began: number; readonly ends: number };
  secret?: string;
  /** The configuration profile that was booted last. */
  config?: number;
  /** When the provider means to move the instance to another host, as v4 writes times. */
  migration?: string;
  /** Of a region: free hardware upgrades can't be had there. */
  noUpgrades?: true;
  /** Addresses of other instances that this one may answer for. */
  shared?: string[];
  /** base64. */
  picture?: string;
  /** The instance that a firewall stands before. */
  instance?: number;
  /** Of an instance: the node of a cluster that it is. */
  node?: string;
  /** How many clones of an instance are being made, by the time each ends. */
  clones?: number[];
  expires?: number;
  /** When the next automatic backup of an instance begins, in milliseconds. */
  nextBackup?: number;
  /** MB that a disk takes while it is resized. */
  reserved?: number;
}
