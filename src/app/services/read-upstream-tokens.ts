import { parse, YAMLParseError } from "yaml";
import {
  createReloader,
  errorText,
  type Feature,
  type FeatureParts,
  readTextFile,
  type Settings,
  SettingsError,
} from "../../base/index.ts";
import { createUpstreamTokens, type TokenPair, type UpstreamTokenTable } from "../../gateway/index.ts";
import type { Pack } from "../../pack/index.ts";

type TokenSettings = Pick<Settings, "CLIENT_TOKENS" | "UPSTREAM_TOKEN" | "UPSTREAM_TOKENS_FILE">;

const isTexts = (value: unknown): value is Record<string, string> =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every((text) => typeof text === "string" && text !== "");

/** Describes the problem of a file without its content, which is secret. */
function problemOf(error: unknown): string {
  if (!(error instanceof YAMLParseError)) return (error as NodeJS.ErrnoException).code ?? "it can't be read";
  return `it is not YAML: ${error.code} in line ${error.linePos?.[0].line ?? 1}`;
}

/** Reads the table of a file: the client's token, a colon, and the upstream's token. @throws {SettingsError} */
function readTable(file: string): TokenPair[] {
  const fail = (problem: string): never => {
    throw new SettingsError([`UPSTREAM_TOKENS_FILE: ${file}: ${problem}`]);
  };
  let table: unknown;
  try {
    // Without the failsafe schema, a token that consists of digits would become a number.
    table = parse(readTextFile(file), { schema: "failsafe", prettyErrors: true });
  } catch (error) {
    return fail(problemOf(error));
  }
  return isTexts(table) ? Object.entries(table) : fail("it is not a map of client tokens to upstream tokens");
}

/** Returns settings about tokens that the pack does not use. They would have no effect, and authorize no client. */
function findUnused(settings: TokenSettings, { dialect: { client, upstream } }: Pack): string[] {
  const token = upstream.credentials?.token ?? "client";
  const needs = (value: string): string => `the pack has no "token: ${value}" in "upstream.credentials"`;
  const reasons: Readonly<Record<keyof TokenSettings, string | false>> = {
    UPSTREAM_TOKEN: token !== "setting" && needs("setting"),
    CLIENT_TOKENS:
      token === "setting" ? !client.credentials && 'the pack has no "client.credentials"' : needs("setting"),
    UPSTREAM_TOKENS_FILE: token !== "table" && needs("table"),
  };
  return Object.entries(reasons).flatMap(([name, reason]) =>
    reason !== false && settings[name as keyof TokenSettings] !== undefined
      ? [`${name} has no effect: ${reason}`]
      : [],
  );
}

/** Returns the tokens of the settings, and the setting that contains them. */
function readTokens(
  { CLIENT_TOKENS, UPSTREAM_TOKEN, UPSTREAM_TOKENS_FILE }: TokenSettings,
  { dialect: { client, upstream } }: Pack,
): { readonly pairs: readonly TokenPair[]; readonly gatewayToken?: string; readonly setting: string } {
  const missing = (setting: string, reason: string): never => {
    throw new SettingsError([`${setting} is missing: ${reason}`]);
  };
  if (upstream.credentials?.token === "table") {
    const file =
      UPSTREAM_TOKENS_FILE ?? missing("UPSTREAM_TOKENS_FILE", "the pack looks tokens up in a table");
    return { pairs: readTable(file), setting: "UPSTREAM_TOKENS_FILE" };
  }
  const gatewayToken =
    UPSTREAM_TOKEN ?? missing("UPSTREAM_TOKEN", `the pack sends a fixed token to ${upstream.name}`);
  if (client.credentials && !CLIENT_TOKENS)
    missing(
      "CLIENT_TOKENS",
      `${upstream.name} gets a fixed token, so only the gateway can check those of clients`,
    );
  return {
    pairs: (CLIENT_TOKENS ?? []).map((token) => [token, gatewayToken] as const),
    gatewayToken,
    setting: "UPSTREAM_TOKEN",
  };
}

/**
 * Reads the tokens and checks that they can be sent to the upstream. Undefined if the pack uses no tokens. @throws
 * {SettingsError}
 */
function readValidTokens(
  settings: TokenSettings,
  pack: Pack,
): Pick<ReturnType<typeof readTokens>, "pairs" | "gatewayToken"> | undefined {
  const unused = findUnused(settings, pack);
  if (unused.length > 0) throw new SettingsError(unused);
  const { upstream } = pack.dialect;
  const format = pack.credentials.upstream;
  if (!format || upstream.credentials?.token === "client") return undefined;
  const { pairs, gatewayToken, setting } = readTokens(settings, pack);
  const sent = gatewayToken === undefined ? pairs.map(([, token]) => token) : [gatewayToken];
  if (!sent.every((token) => format.accepts(token)))
    throw new SettingsError([
      `${setting}: a token contains characters that the credentials of ${upstream.name} can't contain`,
    ]);
  return { pairs, ...(gatewayToken !== undefined && { gatewayToken }) };
}

/**
 * Reads the tokens that the upstream gets in place of the clients', if the pack uses them.
 *
 * @throws {SettingsError} If a setting is missing or has no effect with this pack, if the table can't be read, and if
 *   a token can't be sent.
 */
export function readUpstreamTokens(settings: TokenSettings, pack: Pack): UpstreamTokenTable | undefined {
  const read = readValidTokens(settings, pack);
  return read && createUpstreamTokens(read.pairs, read.gatewayToken);
}

/**
 * Reads the tokens again, into the table that requests use. If they are invalid, the table is not changed.
 *
 * @returns whether any of them has changed
 * @throws {SettingsError} as {@link readUpstreamTokens}
 */
export function refreshUpstreamTokens(
  table: UpstreamTokenTable | undefined,
  settings: TokenSettings,
  pack: Pack,
): boolean {
  const read = table && readValidTokens(settings, pack);
  return read !== undefined && table !== undefined && table.replace(read.pairs);
}

/** The tokens of a gateway. */
export interface UpstreamTokensParts extends FeatureParts<Pack> {
  /** Sets the function that reads the tokens of all packs in use again. It returns whether any token has changed. */
  follow(refresh: () => boolean): void;
}

/** Each pack in use has its own table. Opening the feature only validates the tokens for the given pack. */
export const UPSTREAM_TOKENS: Feature<{ readonly pack: Pack }, UpstreamTokensParts> = {
  name: "upstream-tokens",
  setting: "UPSTREAM_TOKENS_FILE",
  open(settings, { pack }, { log, metrics, watch }) {
    readUpstreamTokens(settings, pack);
    const { UPSTREAM_TOKENS_FILE: file } = settings;
    let refresh = (): boolean => false;
    const read = createReloader({
      read() {
        if (refresh()) log.info({}, "the tokens of the upstream were reloaded");
      },
      // The message omits the content of the file.
      onFailure: (error) =>
        log.error(
          { code: "AG_UPSTREAM_TOKENS_RELOAD_FAILED", faults: [errorText(error)] },
          "the tokens of the upstream were rejected, the active ones stay",
        ),
      gauge: {
        name: "upstream_tokens_last_reload_successful",
        help: "1 if the last reload of the tokens file succeeded, otherwise 0.",
      },
      metrics,
    });
    const reload = (): void => void read();
    watch(file === undefined ? [] : [file], reload);
    // The file may only have been invalid for the previous pack.
    return { reload, usePack: reload, follow: (next) => void (refresh = next) };
  },
};
