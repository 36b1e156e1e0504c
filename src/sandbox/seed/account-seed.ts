/** An account as seed data: by hand in this folder, or from a file. */

import type { Grants } from "../resources/hidden.ts";

export type Seeds = readonly Readonly<Record<string, unknown>>[];

export interface UserSeed extends Readonly<Record<string, unknown>> {
  readonly username: string;
  readonly email: string;
  readonly restricted?: boolean;
  readonly grants?: Grants;
  /** `token` is the secret itself; without one it is made from the label. */
  readonly tokens?: Seeds;
  readonly sshkeys?: Seeds;
  readonly devices?: Seeds;
  /** Applications let in. `token` works for as long as one from the login server does, and ends with its `client`. */
  readonly apps?: Seeds;
}

/**
 * Everything that an account has. Besides these members, lists of its resources under the names that their
 * paths end with: `instances`, `domains`, `volumes`, `tickets`, …, and inside an item what hangs on it
 * (`records` in a domain).
 */
export interface AccountSeed extends Readonly<Record<string, unknown>> {
  /** In `X-Customer-UUID`; from a file it may be left out. */
  readonly id: string;
  readonly account: Readonly<Record<string, unknown>>;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly users: readonly UserSeed[];
}
