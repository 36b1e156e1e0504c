/** Hostile input as data: the bytes of a client on a raw connection, and the allowed results. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { parse } from "yaml";

/** The scheme of the credentials in each dialect. */
export const SCHEMES = { alpha: "token", native: "Bearer" } as const;
export type Dialect = keyof typeof SCHEMES;

/** The expected result for a client that connects to the gateway directly. */
export interface Outcome {
  /** Statuses of the responses, in their order. */
  readonly statuses: readonly number[];
  /** Whether the gateway ends the connection. Where it doesn't, another request on it must get its own response. */
  readonly closes: boolean;
  /** Tokens of the requests that v4 may see, in their order. A proxy in front may let through fewer, never others. */
  readonly v4: readonly string[];
}

export interface Script {
  /** File and name. */
  readonly title: string;
  readonly about: string;
  readonly name: string;
  /** In the script's own notation: see `bytesOf`. */
  readonly send: string;
  readonly expected: Readonly<Record<Dialect, Outcome>>;
}

interface Written extends Partial<Outcome> {
  readonly name: string;
  readonly send: string;
  readonly native?: Partial<Outcome>;
}

interface WrittenFile {
  readonly about: string;
  readonly scripts: readonly Written[];
}

const FOLDER = join(import.meta.dirname, "scripts");

/** The default expectation: most scripts are rejected. */
const REFUSED: Outcome = { statuses: [400], closes: true, v4: [] };

function scriptsOf(file: string): Script[] {
  const { about, scripts } = parse(readFileSync(join(FOLDER, file), "utf8")) as WrittenFile;
  return scripts.map(({ name, send, native, ...written }) => {
    const alpha = { ...REFUSED, ...written };
    const title = `${file.replace(".yaml", "")}: ${name}`;
    return { title, about, name, send, expected: { alpha, native: { ...alpha, ...native } } };
  });
}

/** All of them, by file. */
export const readScripts = (): Script[] => readdirSync(FOLDER).toSorted().flatMap(scriptsOf);

/** A complete request. If it is forwarded as a request, v4 sees its token, in either dialect. */
const SMUGGLED = "GET /v4/vm/instances HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer smuggled\r\n\r\n";

const withLength = (body: string, headers = ""): string =>
  `${headers}Content-Length: ${body.length}\r\n\r\n${body}`;

const MEBI = 1024 * 1024;

/** Marks for bytes that a text file cannot show, and for long repetitions. */
const MARKS: readonly (readonly [RegExp, (dialect: Dialect, ...found: string[]) => string])[] = [
  [
    /^(CR|LF|TAB|SP|NUL)$/,
    (_dialect, name = "") => ({ CR: "\r", LF: "\n", TAB: "\t", SP: " " })[name] ?? "\0",
  ],
  [/^x([0-9a-f]{2})$/, (_dialect, hex = "") => String.fromCharCode(Number.parseInt(hex, 16))],
  [
    /^(.+) x (\d+)$/,
    (_dialect, text = "", times) => lines(text.replaceAll("\\n", "\n")).repeat(Number(times)),
  ],
  [/^auth (\S+)$/, (dialect, token) => `Authorization: ${SCHEMES[dialect]} ${token}`],
  [/^smuggled$/, () => SMUGGLED],
  [/^length of smuggled$/, () => String(SMUGGLED.length)],
  [/^hex length of smuggled$/, () => SMUGGLED.length.toString(16)],
  [/^body of (\d+)$/, (_dialect, length) => withLength("a".repeat(Number(length)))],
  [/^nested (\d+)$/, (_dialect, depth) => withLength("[".repeat(Number(depth)))],
  [
    /^gzip of (\d+) MiB$/,
    (_dialect, size) =>
      withLength(
        gzipSync(Buffer.alloc(Number(size) * MEBI)).toString("latin1"),
        "Content-Encoding: gzip\r\n",
      ),
  ],
];

/** A line of a script ends as HTTP's do. */
const lines = (text: string): string => text.replaceAll("\n", "\r\n");

function mark(dialect: Dialect, name: string): string {
  for (const [pattern, bytes] of MARKS) {
    const found = pattern.exec(name);
    if (found) return bytes(dialect, ...found.slice(1));
  }
  throw new Error(`a script has the unknown mark <${name}>`);
}

/** A pause of the client until it has received this many responses. */
export interface Pause {
  readonly responses: number;
}

/**
 * What a client writes, latin-1, with its pauses: the script's text with every end of a line as CR LF, and the marks
 * in angle brackets replaced. `<no end>` takes off the end of the line that it stands before.
 */
export function bytesOf({ send }: Script, dialect: Dialect): (string | Pause)[] {
  return send
    .replaceAll(/<no end>\n/g, "")
    .split(/(<wait \d+>\n)/)
    .filter(Boolean)
    .map((part) => {
      const responses = /^<wait (\d+)>\n$/.exec(part)?.[1];
      if (responses !== undefined) return { responses: Number(responses) };
      return part
        .split(/(<[^<>\n]+>)/)
        .map((piece, index) => (index % 2 === 0 ? lines(piece) : mark(dialect, piece.slice(1, -1))))
        .join("");
    });
}
