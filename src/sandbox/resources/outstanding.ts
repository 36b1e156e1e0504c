/** What an account that owes money may not do (document 1, facts given by release notes). */

import { invalid } from "../http/problem.ts";
import type { CallContext } from "../resource/declaration.ts";

/** @throws {Problem} 400 where the account has an outstanding balance. */
export function refuseOutstanding({ store, caller }: CallContext): void {
  const balance = store.table("account").get(caller.account)?.value.balance ?? 0;
  if (balance > 0) throw invalid("This account has an outstanding balance; pay it first");
}
