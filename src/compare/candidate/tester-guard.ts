/** Decides which clients may select a pack that is not active, by their entries in `CLIENTS_FILE`. */
import {
  type AlphaRequest,
  createGuard,
  createSenderReader,
  fingerprint,
  type GuardDependencies,
  type GuardOptions,
  header,
  type Middleware,
  nativeToken,
  passOn,
  plainRequestOf,
  tokenHash,
  UNKNOWN_PACK,
} from "../../gateway/index.ts";
import type { Settings } from "../../base/index.ts";
import { HttpError } from "../../pack/index.ts";
import type { ClientDirectory } from "../../audit/index.ts";

/** The services that the guard needs. */
type TesterGuardParts = GuardDependencies &
  Parameters<typeof createSenderReader>[0] & {
    /** Whether only testers may use the pack. */
    readonly isForTesters: boolean;
    readonly clients: { current(): ClientDirectory };
  };

/**
 * Rejects requests of all other clients, in both dialects, as if the pack did not exist. A tester is identified by a
 * proof: a token, the application of a token, or the name from a trusted proxy.
 */
export function createTesterGuard(
  settings: Settings,
  dependencies: TesterGuardParts,
  options: GuardOptions,
): Middleware {
  const { isForTesters, clients } = dependencies;
  if (!isForTesters) return passOn;
  const readSender = createSenderReader(dependencies);
  const reject = createGuard(settings, dependencies, options, () => new HttpError(412, UNKNOWN_PACK));

  async function isTester(plain: AlphaRequest): Promise<boolean> {
    const { identity } = await readSender(plain);
    const isNative = identity.fingerprint === undefined && header(plain, "authorization") !== undefined;
    const name = clients.current().nameOf({
      ...identity,
      ...(isNative && { fingerprint: fingerprint(tokenHash(nativeToken(plain))) }),
      userAgent: undefined,
    });
    return name !== undefined && clients.current().find(name)?.isTester === true;
  }

  return async function guardTesters(request, response, next) {
    return (await isTester(plainRequestOf(response))) ? next() : reject(request, response, next);
  };
}
