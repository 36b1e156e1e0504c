/** Which of the two packs is to serve: `promote` and `rollback` say it, in the state store, to all replicas. */
import { z } from "zod";
import { createSharedDocument, type DocumentStore, type SharedDocument } from "../../base/index.ts";

/** The pack that is to serve. */
export type WantedPack =
  /** The one that `MAPPINGS_DIR` has, whichever it is. */
  | { readonly pack: "active" }
  /** The one with this hash, in whichever folder it is. */
  | { readonly pack: "candidate"; readonly hash: string };

const schema: z.ZodType<WantedPack> = z.union([
  z.object({ pack: z.literal("active") }),
  z.object({ pack: z.literal("candidate"), hash: z.string() }),
]);

/** Creates the access to it. Where nobody has said anything, it is that of `MAPPINGS_DIR`. */
export const createWantedPack = (store: DocumentStore): SharedDocument<WantedPack> =>
  createSharedDocument(store, { key: "pack:wanted", schema, empty: { pack: "active" } });

/** The services for the choice between the packs: the state store, which is opened only if there is a candidate. */
export interface PackChoiceNeeds {
  openStore(): Promise<DocumentStore>;
}
