/** OAuth clients (document 1, OAuth client). The login server reads the same rows. */

import { randomBytes } from "node:crypto";
import { invalid, notFound } from "../http/problem.ts";
import type { ActionCall, Resource, CallContext } from "../resource/declaration.ts";
import { recordEvent } from "../resource/events.ts";
import { revokeTokens } from "../resource/identity.ts";
import type { Row } from "../store/table.ts";
import type { Value } from "./shapes.ts";

const redacted = "<REDACTED>";

function newSecret(): string {
  return randomBytes(32).toString("hex");
}

function present({ value, hidden }: Row<Value>, _view: CallContext): Value {
  const thumbnail =
    hidden?.picture === undefined ? null : `/v4/account/oauth-clients/${String(value["id"])}/thumbnail`;
  return { ...value, secret: redacted, thumbnail_url: thumbnail };
}

/** The old secret ends at once; the new one is told this once. */
function resetSecret(call: ActionCall<Value>): object {
  const { row, action } = call;
  const secret = newSecret();
  row.hidden = { ...row.hidden, secret };
  recordEvent(call, action.event ?? "", row);
  return { ...present(row, call), secret };
}

/** A picture of any client, for whoever is asked to let it in. */
function thumbnail({ store, params }: ActionCall<Value>): object {
  const picture = store.table("client").get(params["client"])?.hidden?.picture;
  if (picture === undefined) throw notFound();
  return Buffer.from(picture, "base64");
}

const mostBytes = 1_048_576;
const pngSignature = "89504e470d0a1a0a";

function keepThumbnail({ row, upload }: ActionCall<Value>): void {
  const bytes = Buffer.from(upload?.bytes ?? []);
  if (bytes.subarray(0, 8).toString("hex") !== pngSignature) throw invalid("The body must be a PNG picture");
  if (bytes.length > mostBytes) throw invalid(`The picture is longer than ${mostBytes} bytes`);
  row.hidden = { ...row.hidden, picture: bytes.toString("base64") };
}

export const client: Resource<Value> = {
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
    // Events count entities by number; this one is written in hexadecimal.
    id: (value) => Number.parseInt(String((value as Value)["id"]).slice(0, 12), 16),
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
