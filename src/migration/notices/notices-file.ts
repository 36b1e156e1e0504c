/** The file of `NOTICES_FILE`: the receivers, their events, and their addresses. */
import { z } from "zod";
import { about, type OperatorFileKind, readTextFile, type ReportProblem } from "../../base/index.ts";
import { CLIENT_EVENTS, EVENTS, type NoticeEvent } from "./notice.ts";

/** The location of a secret, because the file does not contain the secret itself. */
const secretDefinition = z.strictObject({
  env: about(
    z
      .string()
      .regex(/^[A-Za-z_]\w{0,99}$/, "is not the name of an environment variable")
      .optional(),
    "Name of an environment variable",
    "NOTICES_SECRET",
  ),
  file: about(
    z.string().min(1).max(1000).optional(),
    "Path of a file with nothing else in it",
    "/run/secrets/notices",
  ),
});

const receiverDefinition = z.strictObject({
  webhook: about(
    z
      .url({ protocol: /^https?$/, error: "must be an http or https URL" })
      .max(1000)
      .refine(
        (url) => !/^[^/]*\/\/[^/?#]*@/.test(url),
        "must not have a user or a password: they are not sent",
      ),
    "URL that gets each notice as JSON, signed as Standard Webhooks describes",
    "https://hooks.example.com/alpha",
  ),
  secret: about(secretDefinition, "The key of the signatures: `whsec_` and 24 to 64 bytes in Base64", {
    env: "NOTICES_SECRET",
  }),
  events: about(z.array(z.enum(EVENTS)).optional(), "Events that the receiver gets. Left out: all of them", [
    "client.new",
    "storm",
  ]),
});

const noticesDefinition = z.strictObject({
  receivers: about(
    z
      .record(
        z.string().regex(/^[a-z][a-z0-9_-]{0,39}$/, "is not a name: lower-case letters, digits, - and _"),
        receiverDefinition,
      )
      .refine((receivers) => Object.keys(receivers).length <= 20, "has more than 20 receivers")
      .default({}),
    "Who gets notices, by name",
    { chat: { webhook: "https://hooks.example.com/alpha", secret: { env: "NOTICES_SECRET" } } },
  ),
});
type NoticesDefinition = z.output<typeof noticesDefinition>;

/** The schema of the file. */
export const NOTICES_SCHEMA: z.ZodType<NoticesDefinition> = noticesDefinition;

/** The receivers of notices. */
export interface Receiver {
  readonly name: string;
  readonly url: string;
  /** The key of the signatures. */
  readonly key: Buffer;
  readonly events: ReadonlySet<NoticeEvent>;
}

/** A valid file. */
export interface NoticesPlan {
  readonly receivers: readonly Receiver[];
}

/** Reads a secret. No problem contains its value. @returns undefined, and reports a problem, if it can't be read */
function readSecret(
  { env, file }: z.output<typeof secretDefinition>,
  path: readonly PropertyKey[],
  report: ReportProblem,
): string | undefined {
  if ((env === undefined) === (file === undefined)) {
    report("AG_NOTICES_SECRET_PLACE", path, "has one of the keys env and file");
    return undefined;
  }
  let text: string | undefined;
  try {
    text = (env === undefined ? readTextFile(file ?? "") : process.env[env])?.trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    report("AG_NOTICES_SECRET_MISSING", path, `the file "${file}" can't be read: ${code}`);
    return undefined;
  }
  if (text) return text;
  report("AG_NOTICES_SECRET_MISSING", path, env === undefined ? `"${file}" is empty` : `${env} is not set`);
  return undefined;
}

const WEBHOOK_KEY = /^(?:whsec_)?([A-Za-z0-9+/]+={0,2})$/;

/**
 * Reads the key of signatures (Standard Webhooks, "Signature scheme"). @returns undefined, and reports a problem, if
 * there is none
 */
function readKey(
  secret: z.output<typeof secretDefinition>,
  path: readonly PropertyKey[],
  report: ReportProblem,
): Buffer | undefined {
  const text = readSecret(secret, path, report);
  if (text === undefined) return undefined;
  const [, encoded] = WEBHOOK_KEY.exec(text) ?? [];
  const key = Buffer.from(encoded ?? "", "base64");
  if (key.length >= 24 && key.length <= 64) return key;
  report("AG_NOTICES_SECRET_INVALID", path, "the secret is not whsec_ and 24 to 64 bytes in Base64");
  return undefined;
}

export interface NoticesContext {
  /** Whether there is an audit store, which is required for events of clients. */
  readonly hasAudit: boolean;
  /** Whether secrets are read. */
  readonly readsSecrets: boolean;
}

/** The kind of file of `NOTICES_FILE`, which includes reading the secrets. */
export const noticesFile = ({
  hasAudit,
  readsSecrets,
}: NoticesContext): OperatorFileKind<NoticesDefinition, NoticesPlan> => ({
  schema: NOTICES_SCHEMA,
  compile({ receivers }, report) {
    const compiled: Receiver[] = [];
    for (const [name, { webhook: url, secret, events }] of Object.entries(receivers)) {
      const path = ["receivers", name];
      const ofClients = (events ?? []).filter((event) => CLIENT_EVENTS.includes(event));
      if (!hasAudit && ofClients.length > 0)
        report(
          "AG_NOTICES_NEEDS_AUDIT",
          path,
          `without an audit store there are no notices about clients: ${ofClients.join(", ")}`,
        );
      const key = readsSecrets ? readKey(secret, [...path, "secret"], report) : Buffer.alloc(0);
      if (key) compiled.push({ name, url, key, events: new Set(events ?? EVENTS) });
    }
    return { receivers: compiled };
  },
});
