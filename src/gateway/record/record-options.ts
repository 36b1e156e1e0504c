import { createRecordIds, Redaction } from "../../audit/index.ts";
import type { Settings } from "../../base/index.ts";
import type { Pack } from "../../pack/index.ts";
import type { RecordOptions } from "./recorded-request.ts";

/** Segments of the paths that the pack's routes have, and of the calls that they make. */
function literalsOf({ routes, dialect }: Pack): ReadonlySet<string> {
  const templates = routes.flatMap(({ name, source, calls }) => [
    name.slice(name.indexOf(" ") + 1),
    ...("call" in source ? [source.call.template] : []),
    ...calls.map(({ endpoint }) => endpoint.template),
  ]);
  const { oauth, client, upstream } = dialect;
  const prefixes = [client.base_path, upstream.base_path];
  const login = oauth
    ? [oauth.authorize, oauth.token, oauth.revoke, oauth.logout].flatMap(({ client: from, upstream: to }) => [
        from,
        to,
      ])
    : [];
  const segments = [...templates, ...prefixes, ...login].flatMap((path) => path.split("/"));
  return new Set(segments.filter((segment) => segment !== "" && !/[:{]/.test(segment)));
}

/** The options of the records of a pack's requests. */
export const createRecordOptions = (
  pack: Pack,
  settings: Pick<Settings, "AUDIT" | "AUDIT_BODY_LIMIT">,
): RecordOptions => ({
  newId: createRecordIds(),
  redaction: createRedaction(pack, settings),
  bodies: settings.AUDIT === "full",
  credentials: pack.credentials,
  filterHeader: pack.dialect.client.filters?.header,
  packHash: pack.hash,
  sentNames: pack.sentNames,
  lossNames: pack.lossNames,
  grammar: pack.grammar,
});

/** Creates the redaction of what is kept of a pack's requests. */
export const createRedaction = (
  pack: Pack,
  { AUDIT_BODY_LIMIT: bodyLimit }: Pick<Settings, "AUDIT_BODY_LIMIT">,
): Redaction => new Redaction({ names: pack.secretNames, bodyLimit, literals: literalsOf(pack) });
