import { readTypeScript } from "./typescript-text.ts";

/**
 * The words that this project no longer uses, with the standard term for each. A pattern matches only the coined use:
 * words with an ordinary meaning (`first`, `own`, `end`, `place`) are listed with the words that made them a term.
 */
interface RetiredWord {
  /** Whole words, in any case. */
  readonly pattern: string;
  readonly use: string;
}

const RETIRED: readonly RetiredWord[] = [
  { pattern: "roads?", use: "pipeline" },
  { pattern: "(?:at|of|each|every|one|the) stops?", use: "stage" },
  { pattern: "travel(?:s|led|ling)?", use: "handler, pipeline" },
  { pattern: "at the edge", use: "middleware, adapter" },
  { pattern: "both ends|ends of (?:every|the) (?:road|request)s?", use: "error handling, lifecycle" },
  { pattern: "admits?|admitted|admission", use: "authenticate, authorize" },
  { pattern: "meter(?:s|ed)?", use: "enforce the rate limit, limiter" },
  { pattern: "give(?:s|n)? back|take back", use: "refund" },
  { pattern: "standing|vouch(?:es|ed)?(?: for)?", use: "rate limit status" },
  { pattern: "tak(?:e|es|ing) turns?|learnt", use: "single flight, lock" },
  { pattern: "token facts|facts of (?:a|the) tokens?|grant books?", use: "token info, token store" },
  { pattern: "fulfil(?:s|led)?", use: "execute the route" },
  {
    pattern: "outgoing|incoming|call(?:s|ed)? out|requests? out",
    use: "upstream request, upstream response",
  },
  { pattern: "answers? back|mak(?:e|es|ing) (?:an |the )?answers?", use: "build the response" },
  { pattern: "reads? first|first reads?", use: "prerequisite request" },
  { pattern: "reads? besides", use: "related request" },
  { pattern: "find(?:s|ing)? marks?", use: "resolve filter boundaries" },
  { pattern: "answers? (?:collected|joined)", use: "aggregated list, merged resource" },
  { pattern: "carr(?:y|ies) files?", use: "file stream" },
  { pattern: "native lanes?", use: "native proxy" },
  { pattern: "alpha lanes?", use: "alpha pipeline" },
  { pattern: "crews?|duties|through (?:the )?primary", use: "cluster, worker pool" },
  { pattern: "under ?way", use: "in flight, in progress" },
  { pattern: "editions?|overtaken?|overtook", use: "active pack, pack reloader" },
  { pattern: "shared places?|insured", use: "state backend, local fallback" },
  { pattern: "seal(?:s|ed|ing)?", use: "encryption, encrypted" },
  { pattern: "keyed stores?", use: "key-value store" },
  { pattern: "dry roads?", use: "dry run" },
  { pattern: "sow(?:s|ed|n|ing)?", use: "seed" },
  { pattern: "answer(?:s|ed|ing)?", use: "response, respond" },
  { pattern: "refusals?", use: "error, rejection" },
  { pattern: "(?<!there )(?:is|are) (?:no(?! longer)|none)", use: "is not a, is invalid, is missing" },
  { pattern: "absent", use: "missing" },
  { pattern: "at hand", use: "cached" },
  { pattern: "tell(?:s|ing)?|told", use: "report, notify" },
  { pattern: "hear(?:s|d)?(?: of)?", use: "is notified" },
  { pattern: "anew|beg[iu]ns? (?:anew|again)|begun again", use: "restart, again" },
  { pattern: "by itself|by themselves", use: "automatically" },
  { pattern: "besides", use: "additionally" },
  { pattern: "for good", use: "permanently" },
  { pattern: "left alone", use: "the circuit is open" },
  { pattern: "lanes?", use: "pipeline, proxy" },
];

/** Retired in comments and messages of the code, where the documents have an ordinary use for them. */
const RETIRED_IN_CODE: readonly RetiredWord[] = [
  { pattern: "(?:the|its|their|of|in) notes", use: "request context" },
  { pattern: "farewell", use: "deprecation headers, drain" },
  { pattern: "says? no", use: "reject" },
  { pattern: "so many", use: "that number of" },
  { pattern: "goes? away", use: "disconnect, is unreachable" },
];

/** A name is compared as words in lower case: `underWay` is `under way`. */
const RETIRED_NAMES: readonly RetiredWord[] = [
  { pattern: "roads?", use: "pipeline" },
  { pattern: "travels?", use: "handler, pipeline" },
  { pattern: "admission|admits?|admitted", use: "authorize" },
  { pattern: "meters?|metered", use: "enforce rate limit" },
  { pattern: "give back|take back", use: "refund" },
  { pattern: "standing|vouch(?:es)?", use: "rate limit status" },
  { pattern: "tak(?:e|es|ing) turns?|take in turn|turns|turn for|learnt", use: "single flight, lock" },
  { pattern: "facts", use: "token info" },
  { pattern: "grant book", use: "token store" },
  { pattern: "fulfil(?:s|led)?", use: "execute" },
  { pattern: "outgoing|incoming", use: "upstream request, upstream response" },
  { pattern: "answer(?:s|ed|ing)?", use: "response, respond" },
  { pattern: "refusals?", use: "error, rejection" },
  { pattern: "besides", use: "additional, related" },
  { pattern: "find marks?", use: "resolve filter boundaries" },
  { pattern: "crews?|dut(?:y|ies)", use: "worker pool, primary API, worker API" },
  { pattern: "under way", use: "in flight" },
  { pattern: "editions?|overtaken", use: "active pack, superseded" },
  { pattern: "shared place|insured", use: "state backend, local fallback" },
  { pattern: "seal(?:s|ed|ing)?", use: "encrypt" },
  { pattern: "keyed store", use: "key-value store" },
  { pattern: "sow(?:s|n|ed|ing)?", use: "seed" },
  { pattern: "lanes?", use: "native proxy, alpha pipeline" },
  { pattern: "tell(?:s|ing)?|told|untold", use: "report, notify" },
  { pattern: "hear(?:s|d)?", use: "on…, notify" },
  { pattern: "notes", use: "request context" },
  { pattern: "anew", use: "again, re…" },
  { pattern: "absent", use: "missing" },
  { pattern: "at hand", use: "cached" },
  { pattern: "farewell", use: "deprecation headers, drain" },
];

/** Names that say nothing alone. They are looked for where they are declared. */
const RIDDLES = new Set(["made", "known", "told", "shown", "kept", "own"]);

/**
 * Names of Node and of protocols, and members of stored records. `lane` is a column of the audit store and a label of
 * metrics.
 */
const ALLOWED_NAMES = new Set([
  "IncomingMessage",
  "IncomingHttpHeaders",
  "OutgoingHttpHeaders",
  "lane",
  "setIfAbsent",
  "NATIVE_LANE",
]);

/** Names that an API, the format of packs or the format of reports defines, by the file or folder that uses them. */
const API_NAMES: Readonly<Record<string, readonly string[]>> = {
  // A member of v4's managed services.
  "src/sandbox/": ["notes"],
  // Keys of a pack.
  "src/app/public-app.ts": ["answer"],
  "src/app/pipeline-config.ts": ["answer"],
  "src/auth/oauth/exchange-code.ts": ["answer"],
  "src/auth/oauth/login-server.ts": ["v4_answer"],
  "src/dialect/scopes.ts": ["besides"],
  "src/tools/examples/": ["answers"],
  // Members of the admin API and of the migration report.
  "src/tools/explain/": ["answer"],
  "src/tools/migration-report/": ["answer", "notes", "answer_fields_that_change"],
  "test/unit/tools/explain/": ["answer"],
  "test/integration/gateway/": ["answer"],
  // An option of the library API.
  "test/integration/library/": ["nativeLane"],
  "test/unit/config/": ["nativeLane"],
};

/** Names that are allowed in a file. */
export const allowedNames = (path: string): ReadonlySet<string> =>
  new Set(Object.entries(API_NAMES).flatMap(([folder, names]) => (path.startsWith(folder) ? names : [])));

const compilePatterns = (words: readonly RetiredWord[]) =>
  words.map(({ pattern, use }) => ({ use, matcher: new RegExp(`\\b(?:${pattern})\\b`, "i") }));

const PATTERNS = compilePatterns(RETIRED);
const CODE_PATTERNS = [...PATTERNS, ...compilePatterns(RETIRED_IN_CODE)];
const NAME_PATTERNS = compilePatterns(RETIRED_NAMES);

/** Code in Markdown names keys, metrics and messages, and `"Titles"` name panels of the dashboard: neither is prose. */
const withoutCode = (markdown: string): string =>
  markdown
    .replaceAll(/^(`{3,})[^\n]*\n[\s\S]*?^\1$/gm, (block) => block.replaceAll(/[^\n]/g, ""))
    .replaceAll(/`[^`\n]*`/g, "")
    .replaceAll(/"[A-Z][^"\n]*"/g, "")
    .replaceAll(/\]\([^)\n]*\)/g, "]");

/** A retired word in a file. */
export interface FoundWord {
  /** The first line is 1. */
  readonly line: number;
  readonly word: string;
  /** The standard term. */
  readonly use: string;
}

function findInProse(text: string, firstLine: number, patterns: typeof PATTERNS): FoundWord[] {
  return withoutCode(text)
    .split("\n")
    .flatMap((line, index) =>
      patterns.flatMap(({ matcher, use }) => {
        const word = matcher.exec(line)?.[0];
        return word === undefined ? [] : [{ line: firstLine + index, word, use }];
      }),
    );
}

/** Finds the retired words in the prose of a Markdown page. */
export const findInMarkdown = (markdown: string): FoundWord[] => findInProse(markdown, 1, PATTERNS);

/** `retryAfterMs` and `RETRY_AFTER_MS` as `retry after ms`. */
const wordsOf = (name: string): string =>
  name
    .replaceAll("_", " ")
    .replaceAll(/(?<=[\p{Ll}\d])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu, " ")
    .toLowerCase();

function findInName(name: string, isDeclared: boolean): Omit<FoundWord, "line">[] {
  if (ALLOWED_NAMES.has(name)) return [];
  if (isDeclared && RIDDLES.has(name)) return [{ word: name, use: "a noun that says of what" }];
  const words = wordsOf(name);
  return NAME_PATTERNS.flatMap(({ matcher, use }) => (matcher.test(words) ? [{ word: name, use }] : []));
}

/** A string with at least two words is a message. Queries name columns, and a string without a blank is a key. */
const isMessage = (text: string): boolean =>
  /\p{L} +\p{L}/u.test(text) &&
  !/\b(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|FROM|WHERE|AS|AND|BY|VALUES|NOT NULL|THEN)\b/.test(text);

/** Finds the retired words in a TypeScript file: in comments, in messages and in names. */
export function findInTypeScript(source: string, allowed: ReadonlySet<string> = new Set()): FoundWord[] {
  return readTypeScript(source).flatMap(({ kind, line, text, isDeclared = false }) => {
    if (allowed.has(text)) return [];
    if (kind === "identifier") return findInName(text, isDeclared).map((found) => ({ line, ...found }));
    if (kind === "string" && !isMessage(text)) return [];
    return findInProse(text, line, CODE_PATTERNS);
  });
}

/** The line that a reader is shown. */
export const describeFound = ({ line, word, use }: FoundWord): string =>
  `line ${line}: "${word}" (use: ${use})`;
