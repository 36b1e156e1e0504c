/** Hostile input as data: what a client writes on a bare connection, and what may come of it. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { parse } from "yaml";

/** By the scheme of the credentials, which is what tells the lanes apart. */
export const SCHEMES = { alpha: "token", native: "Bearer" } as const;
export type Scheme = keyof typeof SCHEMES;

/** What a client that talks to the gateway itself must get, and what v4 must have seen when all is over. */
export interface Outcome {
  /** Statuses of the responses, in their order. */
  readonly answers: readonly number[];
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
  readonly expected: Readonly<Record<Scheme, Outcome>>;
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

/** Most of them are refused. */
const REFUSED: Outcome = { answers: [400], closes: true, v4: [] };

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

/** A whole request of its own. Should it be taken for one, v4 sees its token, whatever the lane around it. */
const SMUGGLED = "GET /v4/vm/instances HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer smuggled\r\n\r\n";

const withLength = (body: string, headers = ""): string =>
  `${headers}Content-Length: ${body.length}\r\n\r\n${body}`;

const MEBI = 1024 * 1024;

/** What stands for bytes that can't be read in a text file, or for too many of them. */
const MARKS: readonly (readonly [RegExp, (lane: Scheme, ...found: string[]) => string])[] = [
  [/^(CR|LF|TAB|SP|NUL)$/, (_lane, name = "") => ({ CR: "\r", LF: "\n", TAB: "\t", SP: " " })[name] ?? "\0"],
  [/^x([0-9a-f]{2})$/, (_lane, hex = "") => String.fromCharCode(Number.parseInt(hex, 16))],
  [/^(.+) x (\d+)$/, (_lane, text = "", times) => lines(text.replaceAll("\\n", "\n")).repeat(Number(times))],
  [/^auth (\S+)$/, (lane, token) => `Authorization: ${SCHEMES[lane]} ${token}`],
  [/^smuggled$/, () => SMUGGLED],
  [/^length of smuggled$/, () => String(SMUGGLED.length)],
  [/^hex length of smuggled$/, () => SMUGGLED.length.toString(16)],
  [/^body of (\d+)$/, (_lane, length) => withLength("a".repeat(Number(length)))],
  [/^nested (\d+)$/, (_lane, depth) => withLength("[".repeat(Number(depth)))],
  [
    /^gzip of (\d+) MiB$/,
    (_lane, size) =>
      withLength(
        gzipSync(Buffer.alloc(Number(size) * MEBI)).toString("latin1"),
        "Content-Encoding: gzip\r\n",
      ),
  ],
];

/** A line of a script ends as HTTP's do. */
const lines = (text: string): string => text.replaceAll("\n", "\r\n");

function mark(lane: Scheme, name: string): string {
  for (const [pattern, bytes] of MARKS) {
    const found = pattern.exec(name);
    if (found) return bytes(lane, ...found.slice(1));
  }
  throw new Error(`a script says <${name}>, which stands for nothing`);
}

/** A pause of the client, until it has heard this many responses. */
export interface Pause {
  readonly answers: number;
}

/**
 * What a client writes, latin-1, with its pauses: the script's text with every end of a line as CR LF, and the marks
 * in angle brackets replaced. `<no end>` takes off the end of the line that it stands before.
 */
export function bytesOf({ send }: Script, lane: Scheme): (string | Pause)[] {
  return send
    .replaceAll(/<no end>\n/g, "")
    .split(/(<wait \d+>\n)/)
    .filter(Boolean)
    .map((part) => {
      const responses = /^<wait (\d+)>\n$/.exec(part)?.[1];
      if (responses !== undefined) return { answers: Number(responses) };
      return part
        .split(/(<[^<>\n]+>)/)
        .map((piece, index) => (index % 2 === 0 ? lines(piece) : mark(lane, piece.slice(1, -1))))
        .join("");
    });
}
