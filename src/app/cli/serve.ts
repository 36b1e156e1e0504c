import { flushCompileCache } from "node:module";
import { packFolder } from "../../pack/index.ts";
import {
  createLog,
  DEFAULT_TEXTS,
  endLog,
  givenTexts,
  isForPeople,
  isObserving,
  redactSettings,
  readEnvironment,
  type Settings,
  type SettingTexts,
} from "../../base/index.ts";
import { guardProcess } from "../composition/process-guard.ts";
import type { DependenciesOptions } from "../composition/open-dependencies.ts";
import { startService, type Service } from "../composition/start.ts";
import { curl } from "../../compare/index.ts";
import { onSighup, waitForShutdownSignal } from "./signals.ts";
import { watchFolder } from "./authoring/watch-folder.ts";
import { print } from "./terminal.ts";

/** Flags that are not settings. */
type ServeOptions = Pick<DependenciesOptions, "isAnnounced">;

const NO_BODY = { headers: {}, body: undefined };

/** Describes how to try the sandbox: a token, and the request that the pack suggests. */
function describeSandbox({ url, dialect: { client }, sandboxClient }: Service, token: string): string[] {
  const { welcome: suggestion, credentials, base_path: prefix } = client;
  const lines = [`Token     ${token}`];
  if (!suggestion) return lines;
  const { scopes, path } = suggestion;
  if (sandboxClient)
    lines.push(`OAuth     ${url}/oauth/authorize?client_id=${sandboxClient}&scopes=${scopes}`);
  if (credentials)
    lines.push(
      "",
      curl({ base: url, method: "GET", path: prefix + path, credentials, token, ...NO_BODY }, " "),
    );
  return lines;
}

/** Prints the addresses to which requests are sent. */
function describeUpstream({ upstreamUrl, observedUrl, sandboxToken, dialect }: Service): string {
  if (observedUrl !== undefined) return `Old API   ${observedUrl}`;
  return `${dialect.upstream.name.padEnd(9)} ${upstreamUrl}${sandboxToken ? "  (embedded sandbox)" : ""}`;
}

/** Explains the roll-out: which clients get the translation, and how to see it. */
const describeRollout = ({ ROLLOUT_FILE: file }: Pick<Settings, "ROLLOUT_FILE">): string[] =>
  file === undefined
    ? []
    : [
        "",
        `Rolling out: ${file} says who gets the translation. Everybody else gets the old service.`,
        "Who gets what, and what was compared:",
        `  alpha-gateway rollout --rollout-file ${file}`,
        "  alpha-gateway parity --source legacy",
      ];

/** Explains how a gateway without a pack works, and how to continue. */
function describeObserving(
  { observedUrl }: Service,
  { AUDIT, DATABASE_URL, DATA_DIR }: Pick<Settings, "AUDIT" | "DATABASE_URL" | "DATA_DIR">,
): string[] {
  if (observedUrl === undefined) return [];
  const passes = `Observing: every request is passed to ${observedUrl} unchanged`;
  if (AUDIT === "off") return ["", `${passes}. Nothing is recorded (AUDIT=off).`];
  const store = DATABASE_URL === undefined ? DATA_DIR : '"$DATABASE_URL"';
  return [
    "",
    `${passes}, and recorded ${AUDIT === "full" ? "with its bodies" : "without bodies"}.`,
    "Which of the recorded calls a pack would serve:",
    `  alpha-gateway coverage --from ${store} --pack FOLDER`,
  ];
}

/** Prints the next steps for a new user: the addresses, a token, and a command to paste. */
async function welcome(service: Service, settings: Settings, given: SettingTexts): Promise<string> {
  const { url, adminUrl, sandboxToken } = service;
  const reasons = await service.readiness();
  return [
    `Gateway   ${url}`,
    ...(adminUrl ? [`Admin     ${adminUrl}`] : []),
    describeUpstream(service),
    ...(sandboxToken ? describeSandbox(service, sandboxToken) : []),
    ...Object.entries(given).map(([name, text]) => `Setting   ${name}=${text}`),
    ...describeObserving(service, settings),
    ...describeRollout(settings),
    "",
    reasons.length === 0 ? "Ready." : `Running, not ready yet: ${reasons.join("; ")}`,
    "",
  ].join("\n");
}

/**
 * Runs `alpha-gateway serve` until SIGTERM or SIGINT, then drains.
 *
 * @returns the exit code
 * @throws {SettingsError}
 */
export async function serve(flags: SettingTexts, options: ServeOptions = {}): Promise<number> {
  const code = await run(flags, options);
  // An unfinished write to a closed terminal would keep the process running.
  return (await endLog()) ? code : process.exit(code);
}

async function run(flags: SettingTexts, options: ServeOptions): Promise<number> {
  const settings = readEnvironment(process.env, flags);
  const log = createLog(settings.LOG_LEVEL, settings.LOG_FORMAT);
  const guard = guardProcess(log, settings.SHUTDOWN_GRACE_MS);
  // Created before the start, so that a signal during the first reads of v4 is handled as well.
  const shutdown = waitForShutdownSignal();
  let reload = (): void => {};
  onSighup(() => reload());
  const service = await startService(settings, options);
  guard.drainWith(service.stop);
  reload = () => void service.reload();
  const { CANDIDATE_MAPPINGS_DIR: candidate } = settings;
  const folders = isObserving(settings)
    ? []
    : [packFolder(settings.MAPPINGS_DIR), ...(candidate === undefined ? [] : [candidate])];
  const unwatches = folders.map((folder) => watchFolder(folder, reload));
  const given = redactSettings(givenTexts(process.env, flags));
  // The welcome shows the given settings to a person at a terminal.
  if (!isForPeople(settings.LOG_FORMAT))
    log.info({ settings: { ...DEFAULT_TEXTS, ...given } }, "started with these settings");
  print(await welcome(service, settings, given));
  // A process that is killed does not write its compile cache.
  flushCompileCache();
  await shutdown;
  for (const unwatch of unwatches) unwatch();
  await service.stop();
  return 0;
}
