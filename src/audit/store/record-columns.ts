/** The columns of a record. Apart from their types: the thread of SQLite does not load what finds networks. */
import { customerNetwork } from "../../base/index.ts";
import { plainText, plainTextOrNull } from "../record/plain-text.ts";
import type { AuditRecord } from "../record/record.ts";
import { applicationKey, labelKey } from "../usage/summary-key.ts";
import type { RecordColumns } from "./stored-row.ts";

/** The key of a label, else of an application; undefined without both. */
const senderOf = ({ label, application }: AuditRecord["client"]): string | undefined =>
  label !== undefined
    ? labelKey(plainText(label))
    : application === undefined
      ? undefined
      : applicationKey(plainText(application));

/** Whether a request is one of the clients with these keys. @param keys Undefined: all clients */
export function isOfClients(client: AuditRecord["client"], keys: readonly string[] | undefined): boolean {
  const { fingerprint } = client;
  const sender = senderOf(client);
  return (
    keys === undefined ||
    (fingerprint !== null && keys.includes(fingerprint)) ||
    (sender !== undefined && keys.includes(sender))
  );
}

/** The columns of a record. Clients choose some of its texts, so that all of them are cleaned. @throws {TypeError} If it has no time. */
export function columnsOf({
  id,
  time,
  client,
  alpha,
  lane,
  requestId,
  losses,
  sent,
  lost,
  requests,
}: AuditRecord): RecordColumns {
  const ms = Date.parse(time);
  if (Number.isNaN(ms)) throw new TypeError("An audit record needs a time.");
  return {
    id: plainText(id),
    time: ms,
    client: plainTextOrNull(client.fingerprint),
    network: plainText(customerNetwork(client.address)),
    accepted: client.accepted !== false,
    sender: senderOf(client),
    route: plainTextOrNull(alpha.route),
    status: alpha.status,
    lane,
    requestId: plainText(requestId),
    agent: plainTextOrNull(client.userAgent),
    lossy: losses.length > 0,
    sent,
    lost,
    requests,
  };
}
