/** Which of the two packs is to serve: `promote` and `rollback` say it, in the state store, to all replicas. */
import { z } from "zod";
import { DOCUMENT_TTL_SECONDS, type KeyValueStore, StateUnavailableError } from "../../base/index.ts";

/** The pack that is to serve. */
export type WantedPack =
  /** The one that `MAPPINGS_DIR` has, whichever it is. */
  | { readonly pack: "active" }
  /** The one with this hash, in whichever folder it is. */
  | { readonly pack: "candidate"; readonly hash: string };

const KEY = "pack:wanted";

const schema: z.ZodType<WantedPack> = z.union([
  z.object({ pack: z.literal("active") }),
  z.object({ pack: z.literal("candidate"), hash: z.string() }),
]);

/** Reads it. Where nobody has said anything, it is that of `MAPPINGS_DIR`. @throws {StateUnavailableError} */
export async function readWantedPack(store: Pick<KeyValueStore, "get">): Promise<WantedPack> {
  const text = await store.get(KEY);
  if (text === undefined) return { pack: "active" };
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw new StateUnavailableError(`What is stored under ${KEY} is damaged.`);
  }
}

/** Says it. @throws {StateUnavailableError} */
export const writeWantedPack = (store: Pick<KeyValueStore, "set">, wanted: WantedPack): Promise<void> =>
  store.set(KEY, JSON.stringify(wanted), DOCUMENT_TTL_SECONDS);
