/** Personal tokens and OAuth clients (V-058, V-059, V-102 to V-105). */

import { randomBytes } from "node:crypto";
import { dateTime } from "../../clock.ts";
import { requireScopes, revokeTokens, storeAccessToken } from "../../http/authentication.ts";
import { stringOf } from "../../fields/typed-values.ts";
import type { FieldError } from "../../http/problem.ts";
import { invalid, notFound } from "../../http/problem.ts";
import { recordEvent } from "../../resource/event-log.ts";
import type { ActionCall, Call, CallContext, Resource, Store } from "../../resource/resource-declaration.ts";
import type { Row } from "../../store/store-table.ts";
import type { UntypedRow } from "../row-types.ts";

const ownedByUser = { owner: "user", access: "required", area: "account" } as const;

/** Number of characters of a token that responses contain. Only the create response contains the whole token. */
const shownCharacters = 16;
const year = 365 * 86_400_000;
const mostYears = 100;

/** Splits a scope text at spaces and commas. */
export function scopesOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((scope) => scope !== "");
}

/** Whether the text is a valid scope. */
export function isScope({ names }: Store, scope: string): boolean {
  const [area = "", level = "", ...rest] = scope.split(":");
  const isKnownArea = names.scopeAreas.includes(area) && rest.length === 0;
  const writable = area !== names.readOnlyArea;
  return scope === "*" || (isKnownArea && (level === "read_only" || (writable && level === "read_write")));
}

function checkToken({ store, caller, body, at }: Call): FieldError[] {
  const errors: FieldError[] = [];
  const { scopes, expiry } = body;
  if (typeof scopes === "string") {
    const unknown = scopesOf(scopes).filter((scope) => !isScope(store, scope));
    if (unknown.length > 0) errors.push({ reason: `${unknown.join(" ")} is not a scope`, field: "scopes" });
    else if (!within(caller.scopes, scopesOf(scopes)))
      errors.push({ reason: "scopes goes beyond those of your token", field: "scopes" });
  }
  if (typeof expiry === "string") errors.push(...checkExpiry(expiry, at));
  return errors;
}

/** Accepted date-times. Seconds, fraction and zone are optional; the default zone is UTC. */
const timeForm = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)?(Z|[+-]\d\d:\d\d)?$/;

/** Returns milliseconds since 1970, or NaN for an invalid date-time. */
function timeOf(text: string): number {
  const [, day, zone] = timeForm.exec(text) ?? [];
  if (day === undefined || Number.isNaN(Date.parse(`${day}T00:00:00Z`))) return Number.NaN;
  if (dateTime(Date.parse(`${day}T00:00:00Z`)).slice(0, 10) !== day) return Number.NaN;
  const whole = text.includes("T") ? text : text.replace(day, `${day}T00:00:00`);
  return Date.parse(zone === undefined ? `${whole}Z` : whole);
}

function checkExpiry(expiry: string, at: number): FieldError[] {
  const field = "expiry";
  const time = timeOf(expiry);
  if (Number.isNaN(time)) return [{ reason: "expiry is a date-time, e.g. 2030-01-31T12:00:00", field }];
  if (time <= at) return [{ reason: "Expiry is in the past", field }];
  return time > at + mostYears * year ? [{ reason: "Expiry too far in the future", field }] : [];
}

function within(current: readonly string[], wanted: readonly string[]): boolean {
  if (current.includes("*")) return true;
  try {
    requireScopes(current, wanted);
    return true;
  } catch {
    return false;
  }
}

export const token: Resource = {
  ...ownedByUser,
  name: "token",
  path: "/profile/tokens",
  id: "integer",
  entity: { type: "token", url: "/v4/profile/tokens/{id}" },
  fields: {
    id: { type: "integer" },
    scopes: { type: "string", max: 2000, create: true },
    created: { type: "date-time", filter: true },
    label: { type: "string", min: 1, max: 100, filter: true, write: true },
    token: { type: "string" },
    expiry: { type: "date-time", nullable: true, create: true },
  },
  list: {},
  read: true,
  create: {
    event: "token_create",
    validate: checkToken,
    computeMembers: ({ caller, body }) => ({
      // Without `scopes` the new token inherits the scopes of the current one.
      scopes: scopesOf(stringOf(body["scopes"], caller.scopes.join(" "))).join(" "),
      // Responses use the common date-time format.
      expiry: typeof body["expiry"] === "string" ? dateTime(timeOf(body["expiry"])) : null,
    }),
    afterCreate({ store, caller }, row) {
      const secret = randomBytes(32).toString("hex");
      const { scopes, id, expiry } = row.value;
      row.hidden = { secret };
      row.value["token"] = secret.slice(0, shownCharacters);
      storeAccessToken(store, secret, {
        user: caller.user,
        scopes: scopesOf(String(scopes)),
        expires: typeof expiry === "string" ? Date.parse(`${expiry}Z`) : null,
        token: Number(id),
      });
    },
    buildResponse: ({ value, hidden }) => ({ ...value, token: hidden?.secret }),
  },
  update: { event: "token_update" },
  remove: { event: "token_delete" },
  afterDelete: ({ id }, store) => revokeTokens(store, (access) => access.token === id),
};

// OAuth clients. The login server reads the same rows.

const redacted = "<REDACTED>";

function newSecret(): string {
  return randomBytes(32).toString("hex");
}

function present({ value, hidden }: Row, _view: CallContext): UntypedRow {
  const thumbnail =
    hidden?.picture === undefined ? null : `/v4/account/oauth-clients/${String(value["id"])}/thumbnail`;
  return { ...value, secret: redacted, thumbnail_url: thumbnail };
}

/** Replaces the secret. The response is the only one that contains the new secret. */
function resetSecret(call: ActionCall): object {
  const { row, action } = call;
  const secret = newSecret();
  row.hidden = { ...row.hidden, secret };
  recordEvent(call, action.event ?? "", row);
  return { ...present(row, call), secret };
}

/** Returns the thumbnail of any client. Thumbnails are public, because consent pages contain them. */
function thumbnail({ store, params }: ActionCall): object {
  const picture = store.table("client").get(params["client"])?.hidden?.picture;
  if (picture === undefined) throw notFound();
  return Buffer.from(picture, "base64");
}

const mostBytes = 1_048_576;
const pngSignature = "89504e470d0a1a0a";

function keepThumbnail({ row, upload }: ActionCall): void {
  const bytes = Buffer.from(upload?.bytes ?? []);
  if (bytes.subarray(0, 8).toString("hex") !== pngSignature) throw invalid("The body must be a PNG picture");
  if (bytes.length > mostBytes) throw invalid(`The picture is longer than ${mostBytes} bytes`);
  row.hidden = { ...row.hidden, picture: bytes.toString("base64") };
}

export const client: Resource = {
  name: "client",
  path: "/account/oauth-clients",
  id: "text",
  owner: "account",
  access: "required",
  area: "account",
  grant: "account",
  entity: {
    type: "oauth_client",
    url: "/v4/account/oauth-clients/{id}",
    // Events need a numeric entity id; the client id is hexadecimal.
    id: (value) => Number.parseInt(String(value["id"]).slice(0, 12), 16),
  },
  fields: {
    id: { type: "string" },
    redirect_uri: {
      type: "string",
      max: 2000,
      pattern: "[a-zA-Z][a-zA-Z0-9+.-]*://[^\\s#]+",
      required: true,
      write: true,
    },
    label: { type: "string", min: 1, max: 512, required: true, filter: true, write: true },
    status: { type: "string", values: ["active", "disabled", "suspended"], default: "active" },
    secret: { type: "string", default: redacted },
    thumbnail_url: { type: "string", nullable: true },
    public: { type: "boolean", filter: true, create: true },
  },
  list: {},
  read: true,
  serialize: present,
  create: {
    event: "oauth_client_create",
    maxRows: 200,
    id: () => randomBytes(10).toString("hex"),
    afterCreate(_call, row) {
      row.hidden = { secret: newSecret() };
    },
    buildResponse: (row, call) => ({ ...present(row, call), secret: row.hidden?.secret }),
  },
  update: { event: "oauth_client_update" },
  remove: { event: "oauth_client_delete" },
  actions: [
    { method: "POST", path: "/reset-secret", event: "oauth_client_secret_reset", run: resetSecret },
    {
      on: "service",
      method: "GET",
      path: "/account/oauth-clients/:client/thumbnail",
      access: "public",
      grant: "none",
      scopes: [],
      run: thumbnail,
    },
    { method: "PUT", path: "/thumbnail", accepts: "file", run: keepThumbnail },
  ],
  afterDelete: ({ id }, store) => revokeTokens(store, (access) => access.client === id),
};
