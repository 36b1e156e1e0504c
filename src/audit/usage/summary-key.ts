/** The keys under which requests are counted in the summaries: each is one client. */

/**
 * The key for all tokens that v4 has not accepted. They are treated as one client, so that invented tokens create no
 * clients. After v4 accepts a token, its earlier requests are moved to its client.
 */
export const UNACCEPTED = "unaccepted";

const LABEL = "label:";
const APPLICATION = "application:";

/** The key of a client that a trusted proxy has named. */
export const labelKey = (label: string): string => `${LABEL}${label}`;

/** Returns the key of an application: all its tokens are one client. */
export const applicationKey = (application: string): string => `${APPLICATION}${application}`;

/** Whether a key is that of a label. */
export const isLabelKey = (key: string): boolean => key.startsWith(LABEL);

/** Whether a key is that of a label or an application. Other keys are fingerprints of tokens, `UNACCEPTED` and `""`. */
export const isNamedKey = (key: string): boolean => key.startsWith(LABEL) || key.startsWith(APPLICATION);

/** Returns the facts about a client that its key contains. */
export const identityOfKey = (
  key: string | null,
): {
  readonly label: string | null;
  readonly application: string | null;
  readonly fingerprint: string | null;
} => ({
  label: key?.startsWith(LABEL) ? key.slice(LABEL.length) : null,
  application: key?.startsWith(APPLICATION) ? key.slice(APPLICATION.length) : null,
  fingerprint: key === null || key === UNACCEPTED || isNamedKey(key) ? null : key,
});
