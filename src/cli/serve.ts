import { readSettings, settingsHelp } from "../settings/read.ts";
import { startService, type Service } from "../service/start.ts";
import { stopSignal } from "./signal.ts";

const HELP = `alpha-gateway serve [--flag value ...]

Runs the gateway. Every setting is a flag and an environment variable; a flag wins.

  flag                          environment                  default
${settingsHelp()}
`;

/** What a newcomer needs next: where it listens, a token, and a line to paste. */
function welcome({ url, adminUrl, sandboxToken, upstreamUrl, readiness }: Service): string {
  const reasons = readiness();
  return [
    `Gateway   ${url}`,
    ...(adminUrl ? [`Admin     ${adminUrl}`] : []),
    `v4        ${upstreamUrl}${sandboxToken ? "  (embedded sandbox)" : ""}`,
    ...(sandboxToken
      ? [
          `Token     ${sandboxToken}`,
          "",
          `curl -H 'Authorization: token ${sandboxToken}' ${url}/v4/vm/instances`,
        ]
      : []),
    "",
    reasons.length === 0 ? "Ready." : `Running, not ready yet: ${reasons.join("; ")}`,
    "",
  ].join("\n");
}

/** `alpha-gateway serve`: runs until SIGTERM or SIGINT, then drains and resolves with the exit code. */
export async function serve(args: readonly string[]): Promise<number> {
  if (args.includes("--help") || args.includes("-h")) {
    process.stdout.write(HELP);
    return 0;
  }
  // From the start: what comes in before the first reading of v4 has its answer and its record too.
  const asked = stopSignal();
  const service = await startService(readSettings(args, process.env));
  process.stdout.write(welcome(service));
  await asked;
  await service.stop();
  return 0;
}
