/** The dependencies of the records of a pack's requests. */
import { createRecordIds, Redaction } from "../../audit/index.ts";
import type { Settings } from "../../base/index.ts";
import type { Pack } from "../../pack/index.ts";

/** Returns the literal segments in the paths of the pack's routes, and of their calls. */
function literalsOf({ routes, dialect }: Pack): ReadonlySet<string> {
  const { oauth, client, upstream } = dialect;
  const signIns = oauth ? [oauth.authorize, oauth.token, oauth.revoke, oauth.logout] : [];
  const paths = [
    client.base_path,
    upstream.base_path,
    ...signIns.flatMap((call) => [call.client, call.upstream]),
    ...routes.flatMap(({ name, source, calls }) => [
      name.slice(name.indexOf(" ") + 1),
      ...("call" in source ? [source.call.template] : []),
      ...calls.map(({ endpoint }) => endpoint.template),
    ]),
  ];
  const segments = paths.flatMap((path) => path.split("/"));
  return new Set(segments.filter((segment) => segment !== "" && !/[:{]/.test(segment)));
}

/** Creates the redaction of the recorded parts of a pack's requests. */
export const createRedaction = (
  pack: Pack,
  { AUDIT_BODY_LIMIT: bodyLimit }: Pick<Settings, "AUDIT_BODY_LIMIT">,
): Redaction => new Redaction({ names: pack.secretNames, bodyLimit, literals: literalsOf(pack) });

export type RecordOptions = ReturnType<typeof createRecordOptions>;

export const createRecordOptions = (pack: Pack, settings: Pick<Settings, "AUDIT" | "AUDIT_BODY_LIMIT">) => ({
  newId: createRecordIds(),
  redaction: createRedaction(pack, settings),
  /** Whether bodies are recorded. False for AUDIT=metadata. */
  bodies: settings.AUDIT === "full",
  pack,
  /** The header that contains a client's filter, in lower case. Empty if missing. */
  filterHeader: pack.dialect.client.filters?.header?.toLowerCase() ?? "",
});
