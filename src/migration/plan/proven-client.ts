/** Finds the proven identity of a client, because any client can send the user agent of another client. */
import {
  applicationKey,
  type ClientDirectory,
  type ClientIdentity,
  type KnownClient,
  labelKey,
} from "../../audit/index.ts";
import type { PlanClient } from "./plan-dates.ts";

/** Returns the keys under which summaries count the calls of a client: see `summaryKey`. */
export const summaryKeysOf = ({ label, application, fingerprint }: PlanClient): readonly string[] => [
  ...(label === undefined ? [] : [labelKey(label)]),
  ...(application === undefined ? [] : [applicationKey(application)]),
  ...(fingerprint === undefined ? [] : [fingerprint]),
];

/** Returns the keys in an entry of the directory. */
export const listedKeys = ({ name, applications, tokens }: KnownClient): readonly string[] => [
  labelKey(name),
  ...applications.map(applicationKey),
  ...tokens,
];

/** Returns the client of a request, in the form for plans. */
export const planClientOf = (identity: ClientIdentity, directory: ClientDirectory): PlanClient => ({
  name: directory.nameOf(identity),
  fingerprint: identity.fingerprint ?? undefined,
  application: identity.application ?? undefined,
  label: identity.label ?? undefined,
});

/**
 * Finds the proven identity of a client, with all its keys. Its name is the one in the directory, if that contains its
 * label, application or token, otherwise its first key. Undefined for a client without a key.
 */
export function provenClient(client: PlanClient, directory: ClientDirectory) {
  const own = summaryKeysOf(client);
  const entry = directory.find(client.name ?? "");
  const listed = entry ? listedKeys(entry) : [];
  if (!entry || !listed.some((key) => own.includes(key))) return { name: own[0], keys: own };
  return { name: entry.name, keys: [...new Set([...own, ...listed])] };
}
