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
  { pattern: "(?:is|are) (?:no|none)", use: "is not a, is invalid, is missing" },
  { pattern: "absent", use: "missing" },
  { pattern: "at hand", use: "cached" },
  { pattern: "tell(?:s|ing)?|told", use: "report, notify" },
  { pattern: "hear(?:s|d)?(?: of)?", use: "is notified" },
  { pattern: "anew|beg[iu]ns? (?:anew|again)|begun again", use: "restart, again" },
  { pattern: "by itself|by themselves", use: "automatically" },
  { pattern: "besides", use: "additionally" },
  { pattern: "for good", use: "permanently" },
  { pattern: "left alone", use: "the circuit is open" },
];

const PATTERNS = RETIRED.map(({ pattern, use }) => ({
  use,
  matcher: new RegExp(`\\b(?:${pattern})\\b`, "i"),
}));

/** Code in Markdown names keys, metrics and messages, and `"Titles"` name panels of the dashboard: neither is prose. */
const withoutCode = (markdown: string): string =>
  markdown
    .replaceAll(/^(`{3,})[^\n]*\n[\s\S]*?^\1$/gm, (block) => block.replaceAll(/[^\n]/g, ""))
    .replaceAll(/`[^`\n]*`/g, "")
    .replaceAll(/"[A-Z][^"\n]*"/g, "")
    .replaceAll(/\]\([^)\n]*\)/g, "]");

/** One line for each retired word in the prose of a Markdown page: its line number, the word, and what to use. */
export function findRetiredWords(markdown: string): string[] {
  return withoutCode(markdown)
    .split("\n")
    .flatMap((line, index) =>
      PATTERNS.flatMap(({ matcher, use }) => {
        const found = matcher.exec(line)?.[0];
        return found === undefined ? [] : [`line ${index + 1}: "${found}" (use: ${use})`];
      }),
    );
}
