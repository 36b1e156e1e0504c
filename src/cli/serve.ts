import cluster from "node:cluster";
import { readSettings, settingsHelp, shownSettings, type ShownSetting } from "../config/settings.ts";
import type { Settings } from "../config/schema.ts";
import { guardProcess } from "../app/process-guard.ts";
import { createLog, isForPeople, type LogFormat } from "../observability/log.ts";
import { packFolder } from "../app/pack-folder.ts";
import { startService, type Service } from "../app/start.ts";
import { onSighup } from "./sighup.ts";
import { waitForShutdownSignal } from "./shutdown-signal.ts";
import { watchFolder } from "./watch-folder.ts";

const HELP = `alpha-gateway serve [--flag value ...]

Runs the gateway. Every setting is a flag and an environment variable; a flag wins.

  flag                          environment                  default
${settingsHelp()}
`;

type Shown = Readonly<Record<string, ShownSetting>>;

/** All of them for whoever reads logs; somebody at a terminal sees those that were given, in the welcome. */
function logSettings(level: string, format: LogFormat, shown: Shown): void {
  if (isForPeople(format)) return;
  const settings = Object.fromEntries(Object.entries(shown).map(([name, { value }]) => [name, value]));
  createLog(level, format).info({ settings }, "started with these settings");
}

const given = (shown: Shown): string[] =>
  Object.entries(shown)
    .filter(([, setting]) => setting.given)
    .map(([name, { value }]) => `Setting   ${name}=${value}`);

/** A token of the sandbox, and what the pack says to try with it. */
function example({ url, alpha, sandboxClient }: Service, token: string): string[] {
  const { welcome: tried, scheme, prefix } = alpha;
  const oauth = `OAuth     ${url}/oauth/authorize?client_id=${sandboxClient}&scopes=${tried?.scopes}`;
  return [
    `Token     ${token}`,
    ...(tried && sandboxClient ? [oauth] : []),
    ...(tried ? ["", `curl -H 'Authorization: ${scheme} ${token}' ${url}${prefix}${tried.path}`] : []),
  ];
}

/** What a newcomer needs next: where it listens, a token, and a line to paste. */
async function welcome(service: Service, shown: Shown): Promise<string> {
  const { url, adminUrl, sandboxToken, upstreamUrl } = service;
  const reasons = await service.readiness();
  return [
    `Gateway   ${url}`,
    ...(adminUrl ? [`Admin     ${adminUrl}`] : []),
    `v4        ${upstreamUrl}${sandboxToken ? "  (embedded sandbox)" : ""}`,
    ...(sandboxToken ? example(service, sandboxToken) : []),
    ...given(shown),
    "",
    reasons.length === 0 ? "Ready." : `Running, not ready yet: ${reasons.join("; ")}`,
    "",
  ].join("\n");
}

async function start(settings: Settings): Promise<Service> {
  if (settings.WORKERS === 1) return startService(settings);
  return (await import("../app/cluster/primary.ts")).startWorkers(settings);
}

/** `alpha-gateway serve`: runs until SIGTERM or SIGINT, then drains and resolves with the exit code. */
export async function serve(args: readonly string[]): Promise<number> {
  if (args.includes("--help") || args.includes("-h")) {
    process.stdout.write(HELP);
    return 0;
  }
  const settings = readSettings(args, process.env);
  if (cluster.isWorker) return (await import("../app/cluster/worker.ts")).runWorker(settings);
  const guard = guardProcess(createLog(settings.LOG_LEVEL, settings.LOG_FORMAT), settings.SHUTDOWN_GRACE_MS);
  // From the start: what comes in before the first reading of v4 has its answer and its record too.
  const asked = waitForShutdownSignal();
  let reload = (): void => {};
  onSighup(() => reload());
  const service = await start(settings);
  guard.drainWith(service.stop);
  reload = () => void service.reload();
  const unwatch = watchFolder(packFolder(settings.MAPPINGS_DIR), reload);
  const shown = shownSettings(args, process.env);
  logSettings(settings.LOG_LEVEL, settings.LOG_FORMAT, shown);
  process.stdout.write(await welcome(service, shown));
  await asked;
  unwatch();
  await service.stop();
  return 0;
}
