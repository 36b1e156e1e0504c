/** The certificates for v4 and the login server, from the files that the settings name, and connections with them. */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { createSecureContext, getCACertificates, type SecureContext } from "node:tls";
import {
  errorText,
  type Feature,
  type FeatureParts,
  readTextFile,
  type Settings,
  SettingsError,
} from "../../base/index.ts";
import { buildConnector } from "undici";

const FILE_SETTINGS = ["UPSTREAM_CA", "UPSTREAM_CERT", "UPSTREAM_KEY"] as const;

type FileSetting = (typeof FILE_SETTINGS)[number];
type TlsSettings = Pick<Settings, FileSetting>;

/** The certificates in use. */
export interface UpstreamTls extends FeatureParts {
  /** Returns the context for connections to a server. The client certificate is only sent to v4's own origin. */
  contextFor(isV4: boolean): CurrentContext;
}

interface Contexts {
  readonly v4: SecureContext;
  readonly others: SecureContext;
}

function fail(name: FileSetting, file: string, problem: string): never {
  throw new SettingsError([`${name}: ${file}: ${problem}`]);
}

/** Parses the content of a file. The error contains none of it: a key is secret. */
function parse<T>(name: FileSetting, file: string, read: (text: string) => T): T {
  try {
    return read(readTextFile(file));
  } catch (error) {
    return fail(name, file, (error as NodeJS.ErrnoException).code ?? errorText(error));
  }
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Parses certificates. @throws {Error} if the text contains no certificate, or an invalid one */
function readCertificates(text: string): readonly [X509Certificate, ...X509Certificate[]] {
  const [first, ...others] = (text.match(CERTIFICATE) ?? []).map((pem) => new X509Certificate(pem));
  if (!first) throw new Error("it has no certificate in PEM");
  return [first, ...others];
}

const asPem = (certificates: readonly X509Certificate[]): string[] => certificates.map(String);

/** Reads the certificates and keys. @throws {SettingsError} if a file can't be used */
function readContexts({ UPSTREAM_CA: ca, UPSTREAM_CERT: cert, UPSTREAM_KEY: key }: TlsSettings): Contexts {
  const authorities = [
    ...getCACertificates("default"),
    ...(ca === undefined ? [] : asPem(parse("UPSTREAM_CA", ca, readCertificates))),
  ];
  const others = createSecureContext({ ca: authorities });
  if (cert === undefined || key === undefined) return { v4: others, others };
  const chain = parse("UPSTREAM_CERT", cert, readCertificates);
  const privateKey: KeyObject = parse("UPSTREAM_KEY", key, createPrivateKey);
  if (!chain[0].checkPrivateKey(privateKey)) fail("UPSTREAM_KEY", key, "it is not the key of UPSTREAM_CERT");
  const pem = privateKey.export({ type: "pkcs8", format: "pem" });
  return {
    v4: createSecureContext({ ca: authorities, cert: asPem(chain).join(""), key: pem }),
    others,
  };
}

/**
 * The certificates, which are read again when a file changes. If a changed file can't be used, the previous
 * certificates stay active. Opening the feature throws a {@link SettingsError} if a file can't be used.
 */
export const UPSTREAM_TLS: Feature<undefined, UpstreamTls | undefined> = {
  name: "upstream-tls",
  setting: "UPSTREAM_CERT",
  open(settings, _needs, { log, watch }) {
    const files = FILE_SETTINGS.flatMap((name) => settings[name] ?? []);
    if (files.length === 0) return undefined;
    let contexts = readContexts(settings);
    watch(files, () => {
      try {
        contexts = readContexts(settings);
        log.info({}, "the certificates of the upstream were reloaded");
      } catch (error) {
        log.error(
          { code: "AG_UPSTREAM_TLS_RELOAD_FAILED", faults: (error as SettingsError).problems },
          "the certificates of the upstream were rejected, the active ones stay",
        );
      }
    });
    return { contextFor: (isV4) => () => (isV4 ? contexts.v4 : contexts.others) };
  },
};

/** Returns the certificates for the next connection. */
export type CurrentContext = () => SecureContext;

/**
 * Creates the function that opens the connections of an undici pool, over HTTP/1.1. Sessions are never resumed, because
 * a resumed session would keep the previous client certificate.
 */
export function createTlsConnector(current: CurrentContext, timeout: number): buildConnector.connector {
  let context: SecureContext | undefined;
  let connect: buildConnector.connector | undefined;
  return (options, callback) => {
    if (!connect || context !== current()) {
      context = current();
      connect = buildConnector({
        timeout,
        secureContext: context,
        maxCachedSessions: 0,
        allowH2: false,
      });
    }
    connect(options, callback);
  };
}
