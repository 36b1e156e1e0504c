/** Plays the story: sends what the clients want to a gateway whose clock it sets, and notes what they got. */
import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { createRecordIds } from "../../../../src/audit/record/record-id.ts";
import type { AuditStore } from "../../../../src/audit/store/store.ts";
import { sampleRecord } from "../../../audit/record/sample-record.ts";
import { envelope, json, plain, startFakeV4, type FakeV4, type Responder } from "../../../support/fake-v4.ts";
import { WEBHOOK_SECRET, type ReceivedNotice } from "../../../support/notice-receivers.ts";
import { createSettableClock, type SettableClock } from "../../../support/set-clock.ts";
import { waitFor } from "../../../support/wait-for.ts";
import { run, serve, type Serving } from "../program.ts";
import {
  ANONYMOUS,
  ANONYMOUS_AGENT,
  createClients,
  directoryText,
  fingerprintOf,
  MOBILE,
  MOBILE_ID,
  PLAN,
  SCAN,
  scannedTokens,
  SCANNER_AGENT,
  SIGN_IN,
  SLOTS,
  type Day,
  type StoryClient,
  type Wish,
} from "./clients.ts";
import { Ledger } from "./ledger.ts";

export const QUIET_DAYS = 8;
export const USAGE_RETENTION_DAYS = 400;
export const RETENTION_DAYS = 30;

const INSTANCE = {
  id: 7,
  label: "web",
  group: "shop",
  status: "running",
  created: "2025-12-01T10:00:00",
  updated: "2025-12-01T10:00:00",
  region: "us-east",
  image: "vm/debian9",
  type: "g6-standard-1",
  ipv4: ["203.0.113.7"],
  ipv6: null,
  hypervisor: "kvm",
  backups: { enabled: false },
};

const NOT_FOUND = json(404, { errors: [{ reason: "Not found" }] }, { "x-oauth-scopes": "*" });
const accepted = (body: unknown): Responder => json(200, body, { "x-oauth-scopes": "*" });

type Notice = ReceivedNotice["body"];

/** Of all applications. */
const SECRET = "5a7f0c1d2e3b4a596877665a7f0c1d2e3b4a596877665a7f0c1d2e3b4a596877";

/** v4, its login server, and the receiver of notices: tokens that begin with `good` are valid, and those with `rich` have an instance. */
const respond: Responder = (call, response) => {
  const authorization = call.headers.authorization ?? "";
  const [path = ""] = call.path.split("?");
  const choose = (): Responder => {
    if (path === "/oauth/token") {
      const code = new URLSearchParams(call.received().toString()).get("code") ?? "";
      return json(200, { access_token: `good-${code}`, scopes: "*", expires_in: 3 * 365 * 86_400 });
    }
    if (path === "/oauth/revoke") {
      const secret = new URLSearchParams(call.received().toString()).get("client_secret");
      return secret === SECRET ? json(200, {}) : json(401, { error: "invalid_client" });
    }
    if (path === "/hook") return plain(204, "");
    if (!authorization.startsWith("Bearer good")) return json(401, { errors: [{ reason: "Invalid Token" }] });
    if (path === "/v4/vm/instances")
      return accepted(envelope(authorization.includes("rich") ? [INSTANCE] : []));
    if (path === "/v4/vm/instances/7") return accepted(INSTANCE);
    if (path === "/v4/vm/instances/7/transfer") return accepted({ used: 0, quota: 100, billable: 0 });
    if (path === "/v4/domains") return accepted(envelope([]));
    return NOT_FOUND;
  };
  choose()(call, response);
};

/** Where a gateway keeps its records. */
export interface StoryStore {
  readonly env: Readonly<Record<string, string>>;
  /** Opens it beside the gateway. */
  open(folder: string, clock: () => number): AuditStore | Promise<AuditStore>;
}

/** The answer to a request of the admin API, or of a command. */
export type Answer = any; // eslint-disable-line typescript/no-explicit-any

export class Play {
  readonly clients: readonly StoryClient[] = createClients();
  readonly ledger: Ledger;
  readonly #folder: string;
  readonly #store: StoryStore;
  readonly #v4: FakeV4;
  readonly #clock: SettableClock;
  readonly #env: Readonly<Record<string, string>>;
  /** The tokens of the users of applications. */
  readonly #issued = new Map<string, readonly string[]>();
  #gateway: Serving | undefined;
  #now = 0;
  #sentSinceStart = 0;

  private constructor(folder: string, store: StoryStore, v4: FakeV4) {
    this.#folder = folder;
    this.#store = store;
    this.#v4 = v4;
    this.#clock = createSettableClock(folder);
    const clientsFile = join(folder, "clients.yaml");
    const planFile = join(folder, "plan.yaml");
    writeFileSync(clientsFile, directoryText(this.clients));
    writeFileSync(planFile, PLAN);
    const noticesFile = join(folder, "notices.yaml");
    writeFileSync(
      noticesFile,
      `receivers: { hook: { webhook: "${v4.url}/hook", secret: { env: HOOK_SECRET } } }`,
    );
    this.#env = {
      ...this.#clock.env,
      ...store.env,
      UPSTREAM_URL: v4.url,
      AUTH_URL: v4.url,
      CLIENTS_FILE: clientsFile,
      SUNSET_FILE: planFile,
      DATA_DIR: folder,
      QUIET_DAYS: String(QUIET_DAYS),
      AUDIT_RETENTION_DAYS: String(RETENTION_DAYS),
      USAGE_RETENTION_DAYS: String(USAGE_RETENTION_DAYS),
      RATE_LIMIT: "1000000/1",
      MIGRATION_PAGE: "on",
      TRUST_PROXY: "127.0.0.1",
      NOTICES_FILE: noticesFile,
      HOOK_SECRET: WEBHOOK_SECRET,
    };
    const names = new Map(
      this.clients.flatMap(({ name, application, tokens }) =>
        name === undefined
          ? []
          : [application ?? [], tokens.map(fingerprintOf)].flat().map((id) => [id, name]),
      ),
    );
    this.ledger = new Ledger({
      usageRetentionDays: USAGE_RETENTION_DAYS,
      quietDays: QUIET_DAYS,
      nameOf: ({ application, fingerprint }) => names.get(application ?? fingerprint ?? "") ?? null,
    });
  }

  static async create(folder: string, store: StoryStore): Promise<Play> {
    const v4 = await startFakeV4();
    v4.respondWith(respond);
    return new Play(folder, store, v4);
  }

  get now(): number {
    return this.#now;
  }

  /** The notices that a webhook got so far. */
  get notices(): readonly Notice[] {
    return this.#v4.calls.filter(({ path }) => path === "/hook").map((call) => call.json() as Notice);
  }

  close(): Promise<void> {
    return this.#v4.close();
  }

  /** Sets the clock of the gateway, which stands still until it is set again. */
  setTime(moment: string): void {
    this.#now = Date.parse(moment);
    this.#clock.stopAt(new Date(this.#now));
  }

  /** Starts the gateway, as it is installed. */
  async start(): Promise<void> {
    this.#gateway = await serve(this.#folder, { env: { LOG_LEVEL: "error", ...this.#env } });
    this.#sentSinceStart = 0;
  }

  /** Stops the gateway, after all that was sent is recorded. */
  async stop(): Promise<void> {
    await this.waitUntilRecorded();
    this.#gateway?.signal("SIGTERM");
    await this.#gateway?.ended;
  }

  /** Waits until each request has its record in the store: whoever looks at the clients afterwards sees it. */
  async waitUntilRecorded(): Promise<void> {
    await waitFor(async () => {
      const [written = 0] = await this.metrics("audit_written_total");
      return written >= this.#sentSinceStart;
    });
  }

  /** The values of metrics. */
  async metrics(...names: readonly string[]): Promise<readonly number[]> {
    const response = await fetch(`${this.#gateway?.admin}/metrics`);
    const text = await response.text();
    return names.map((name) => {
      const start = `\nalpha_gateway_${name} `;
      const at = text.indexOf(start);
      return at === -1 ? 0 : Number.parseFloat(text.slice(at + start.length));
    });
  }

  async api(path: string): Promise<Answer> {
    const response = await fetch(`${this.#gateway?.admin}/api/${path}`);
    const text = await response.text();
    return response.headers.get("content-type")?.startsWith("application/json") ? JSON.parse(text) : text;
  }

  /** The page of a client, read with its own token, or with the secret of its application. */
  async readPage(name: string): Promise<Answer> {
    const client = this.clients.find((each) => each.name === name);
    const basic = Buffer.from(`${client?.application}:${SECRET}`).toString("base64");
    const authorization = client?.application === undefined ? `token ${client?.tokens[0]}` : `Basic ${basic}`;
    const response = await fetch(`${this.#gateway?.url}/v4/migration`, { headers: { authorization } });
    if (!response.ok) throw new Error(`${name} gets ${response.status} for its page`);
    return response.json();
  }

  async act(action: "pause" | "resume", stage: string): Promise<void> {
    await fetch(`${this.#gateway?.admin}/api/sunset/${action}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ by: "Ann", stage }),
    });
  }

  /** Runs a command by the same clock. */
  async command(...args: readonly string[]): Promise<string> {
    const { out, err, code } = await run(args, { env: this.#env }).ended;
    if (code !== 0) throw new Error(err);
    return out;
  }

  async stageStates(): Promise<Readonly<Record<string, string>>> {
    const { plan } = await this.api("sunset");
    return Object.fromEntries(plan.stages.map(({ name, state }: Answer) => [name, state]));
  }

  /** Waits until the gateway knows whether the open windows may begin. */
  async waitForWindows(): Promise<void> {
    await waitFor(async () => {
      const { plan } = await this.api("sunset");
      return plan.stages.every(({ state, blockedBy }: Answer) => state !== "waiting" || blockedBy.length > 0);
    });
  }

  /** Sends one request, and notes it. */
  async send(
    wish: Wish,
    {
      token,
      application = null,
      userAgent,
    }: { token: string | null; application?: string | null; userAgent: string },
    body = wish.body,
  ): Promise<{ status: number; text: string; headers: Headers }> {
    const scheme = wish.lane === "alpha" ? "token" : "Bearer";
    const response = await fetch(`${this.#gateway?.url}${wish.path}`, {
      method: wish.method,
      headers: {
        "user-agent": userAgent,
        ...(token !== null && { authorization: `${scheme} ${token}` }),
        ...wish.headers,
      },
      ...(body !== undefined && { body }),
    });
    const text = await response.text();
    const { status, headers } = response;
    this.#sentSinceStart += 1;
    const wasServed = status < 400 || status === 404;
    this.ledger.note(
      {
        time: this.#now,
        lane: wish.lane,
        route: wish.route,
        status,
        fingerprint: token === null ? null : fingerprintOf(token),
        // A sign-in that failed has only named its application.
        application: token === null && !wasServed ? null : application,
        userAgent,
        names: wasServed ? (wish.names ?? []) : [],
        losses: wasServed && token?.includes("rich") ? (wish.losses ?? []) : [],
      },
      wasServed,
    );
    return { status, text, headers };
  }

  /**
   * Signs a user of an application in, by a real exchange of a code through the gateway.
   *
   * @returns undefined if the plan stops it
   */
  async signIn(client: StoryClient, day: Day, code: string): Promise<string | undefined> {
    const form = new URLSearchParams({
      client_id: client.application ?? "",
      client_secret: SECRET,
      code,
    });
    const { status, text } = await this.send(
      { ...SIGN_IN, headers: { "content-type": "application/x-www-form-urlencoded" } },
      { token: null, application: client.application ?? null, userAgent: client.userAgent(day) },
      form.toString(),
    );
    return status === 200 ? JSON.parse(text).access_token : undefined;
  }

  /** A day of all clients. */
  async playDay(day: Day, before: (slot: number) => Promise<void> = async () => {}): Promise<void> {
    for (const [slot, hour] of SLOTS.entries()) {
      this.setTime(`${day.date}T${hour}:00Z`);
      await this.waitForWindows();
      await before(slot);
      const clients = this.clients.filter((client) => client.slot === slot);
      await Promise.all(clients.map((client) => this.#playClient(client, day)));
      if (slot === 0) await this.#playStrangers(day);
      await this.waitUntilRecorded();
    }
  }

  /** New users of an application sign in; those of the mobile application do so each week. */
  async #signInUsers(client: StoryClient, day: Day): Promise<void> {
    const id = client.application ?? "";
    const isDue = client.name === MOBILE ? day.isMonday && day.week < 55 : !this.#issued.has(id);
    if (!isDue) return;
    const users = client.name === MOBILE ? 10 : 3;
    const codes = Array.from({ length: users }, (_, index) => `${id}-${day.date}-${index}`);
    const tokens = await Promise.all(codes.map((code) => this.signIn(client, day, code)));
    const issued = tokens.filter((token) => token !== undefined);
    // Users who can't sign in go on with the tokens that they have.
    if (issued.length > 0) this.#issued.set(id, issued);
  }

  async #playClient(client: StoryClient, day: Day): Promise<void> {
    const wishes = client.wishes(day);
    if (wishes.length === 0) return;
    if (client.application !== undefined) await this.#signInUsers(client, day);
    const tokens = this.#issued.get(client.application ?? "") ?? client.tokens;
    const identity = { application: client.application ?? null, userAgent: client.userAgent(day) };
    for (const token of tokens) for (const wish of wishes) await this.send(wish, { token, ...identity });
  }

  async #playStrangers(day: Day): Promise<void> {
    for (const token of scannedTokens(day))
      for (const wish of SCAN) await this.send(wish, { token, userAgent: SCANNER_AGENT });
    for (const wish of ANONYMOUS) await this.send(wish, { token: null, userAgent: ANONYMOUS_AGENT });
  }

  /**
   * Records calls of further users of the mobile application by the store's own API, which the gateway uses: thousands of
   * sign-ins would take minutes. The gateway is stopped meanwhile.
   */
  async addMobileUsers(count: number): Promise<void> {
    const store = await this.#store.open(this.#folder, () => this.#now);
    const newId = createRecordIds(() => this.#now);
    const mobile = this.clients.find(({ name }) => name === MOBILE);
    for (let index = 0; index < count; index += 1) {
      const fingerprint = fingerprintOf(`mobile-user-${index}`);
      const call = {
        time: this.#now,
        lane: "alpha",
        route: "GET /vm/instances",
        status: 200,
        fingerprint,
        application: MOBILE_ID,
        userAgent: mobile?.userAgent({} as Day) ?? "",
      } as const;
      const record = sampleRecord(newId(), {
        ...call,
        time: new Date(call.time).toISOString(),
        client: fingerprint,
        agent: call.userAgent,
        accepted: true,
        losses: [],
      });
      await store.append(record);
      this.ledger.note({ ...call, names: [], losses: [] }, true);
    }
    await store.close();
  }
}
