import { Redaction } from "../audit/redact.ts";
import type { Settings } from "../config/setting-definitions.ts";
import type { Pack } from "../mapping/pack.ts";

/** Segments of the paths that the pack's routes have, and of the calls that they make. */
function literalsOf({ routes, dialect }: Pack): ReadonlySet<string> {
  const templates = routes.flatMap(
    ({ name, source, mergeParts, prerequisites, readAfterWrite, wait, related }) => [
      name.slice(name.indexOf(" ") + 1),
      ...("call" in source ? [source.call.template] : []),
      ...mergeParts.flatMap(({ read, write }) => [read.template, write.template]),
      ...[...prerequisites, ...related, readAfterWrite, wait].map((step) => step?.endpoint.template ?? ""),
    ],
  );
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

/** Creates the redaction of what is recorded under a pack. */
export const createRedaction = (
  pack: Pack,
  { AUDIT_BODY_LIMIT }: Pick<Settings, "AUDIT_BODY_LIMIT">,
): Redaction =>
  new Redaction({ names: pack.secretNames, bodyLimit: AUDIT_BODY_LIMIT, literals: literalsOf(pack) });
