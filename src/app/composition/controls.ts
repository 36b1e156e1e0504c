/** The controls of an embedded gateway. */
import { errorText, type Metrics, type Reload, type Settings } from "../../base/index.ts";
import {
  type AuditPage,
  type AuditQuery,
  type AuditRecord,
  type AuditStore,
  AuditUnavailableError,
} from "../../audit/index.ts";

/** Reads the audit records of a gateway. */
export interface AuditReader {
  /** Returns one page of records, newest first. @throws {AuditUnavailableError} While the store can't be read. */
  query(query?: AuditQuery): Promise<AuditPage>;
  /** Counts the matching records; `limit` is ignored. @throws {AuditUnavailableError} */
  count(query?: AuditQuery): Promise<number>;
  /** Returns one record. @throws {AuditUnavailableError} */
  get(id: string): Promise<AuditRecord | undefined>;
}

/** The metrics, the audit and the pack of an embedded gateway. */
export interface GatewayControls {
  /** Returns the metrics in Prometheus's text format, like `/metrics` of the admin listener. */
  metrics(): Promise<string>;
  /** The audit store; undefined if `audit` is `"off"`. */
  readonly audit: AuditReader | undefined;
  /**
   * Reads the pack folder and the tokens file again, while requests are served. If the pack is invalid, the previous
   * one stays active. If a later reload starts in the meantime, this call gets the result of the newest reload.
   *
   * @throws {PackError} If the pack is invalid. {Error} If replacing the active pack requires a restart.
   */
  reload(): Promise<void>;
}

/** The open services of a gateway that serves requests. */
export interface OpenGateway {
  readonly handlers: {
    readonly admin: { readonly metrics: Pick<Metrics, "text"> };
    readonly reload: Reload;
  };
  readonly audit: AuditStore | undefined;
}

/**
 * Creates the controls of a gateway.
 *
 * @param whenOpen Resolves after it was opened. @throws {Error} if it is closed, or could not be opened
 */
export function createControls(settings: Settings, whenOpen: () => Promise<OpenGateway>): GatewayControls {
  async function store(): Promise<AuditStore> {
    const { audit } = await whenOpen().catch((error: unknown) => {
      throw new AuditUnavailableError(errorText(error), { cause: error });
    });
    if (!audit) throw new AuditUnavailableError("Auditing is off.");
    return audit;
  }

  const reader: AuditReader = {
    query: async (query = {}) => (await store()).query(query),
    count: async (query = {}) => (await store()).count(query),
    get: async (id) => (await store()).get(id),
  };
  return {
    audit: settings.AUDIT === "off" ? undefined : reader,
    async metrics() {
      const { handlers } = await whenOpen();
      return handlers.admin.metrics.text();
    },
    async reload() {
      const { handlers } = await whenOpen();
      const problem = await handlers.reload();
      if (problem) throw problem;
    },
  };
}
