import * as fc from "fast-check";

/**
 * Expressions and documents made at random: every kind of node, few names, so that paths find something.
 * They are as nonsensical as they come, which is what the two engines must agree about.
 */
const NAMES = ["a", "b", "c", "d"] as const;

const name = fc.constantFrom(...NAMES);

const scalar = fc.oneof(
  fc.constantFrom(null, true, false, 0, 1, -1, 2.5, 1e21, "", "a", "b", "1", "x y"),
  fc.integer({ min: -3, max: 5 }),
);

/** Documents of the names above, with lists in lists, empty ones and single ones among them. */
const { value, object } = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: "small", maxDepth: 4 }, scalar, tie("object"), tie("list")),
  object: fc.dictionary(name, tie("value"), { maxKeys: 4 }),
  list: fc.array(tie("value"), { maxLength: 3 }),
}));
export const documents: fc.Arbitrary<unknown> = value;
export const objects = object;

const literal = fc.constantFrom(
  "1",
  "0",
  "-1",
  "2.5",
  '"a"',
  '"b"',
  '""',
  "true",
  "false",
  "null",
  "[]",
  "{}",
);

const binaryOperator = fc.constantFrom(..."+ - * / % = != < <= > >= & and or in ?: ??".split(" "));

/** Calls with the number of arguments they are made with. */
const CALLS: readonly (readonly [string, number])[] = [
  ..."abs append average boolean ceil contains count distinct exists floor join keys length".split(" "),
  ..."lookup lowercase max merge min not number reverse round sort spread sqrt string substring".split(" "),
  ..."substringAfter substringBefore sum trim type uppercase zip power pad split replace match".split(" "),
].flatMap((called) => [0, 1, 2, 3].map((count) => [called, count] as const));

const pieces = (...parts: readonly (string | fc.Arbitrary<string>)[]): fc.Arbitrary<string> =>
  fc
    .tuple(...parts.map((part) => (typeof part === "string" ? fc.constant(part) : part)))
    .map((found) => found.join(""));

const { expression, path, list } = fc.letrec<
  Record<"expression" | "atom" | "path" | "list" | "step" | "call" | "callback", string>
>((tie) => {
  const sub = tie("expression");
  const step = fc.oneof(
    { weight: 6, arbitrary: name },
    { weight: 1, arbitrary: fc.constantFrom("*", "**", "$") },
    { weight: 1, arbitrary: pieces("(", sub, ")") },
    { weight: 1, arbitrary: pieces('{"k": ', sub, "}") },
    { weight: 1, arbitrary: pieces("[", sub, "]") },
    { weight: 1, arbitrary: tie("call") },
  );
  const behind = fc.oneof(
    { weight: 6, arbitrary: fc.constant("") },
    { weight: 2, arbitrary: fc.constantFrom("[0]", "[-1]", "[1]", "[[0,1]]", "[]") },
    { weight: 1, arbitrary: pieces("[", sub, "]") },
    { weight: 1, arbitrary: pieces("^(", fc.constantFrom("", "<", ">"), sub, ")") },
    { weight: 1, arbitrary: fc.constantFrom("@$v", "#$i", "@$v#$i") },
  );
  return {
    expression: fc.oneof(
      { depthSize: "small", maxDepth: 5 },
      tie("atom"),
      { weight: 4, arbitrary: tie("path") },
      { weight: 2, arbitrary: pieces(tie("atom"), " ", binaryOperator, " ", sub) },
      pieces("(", sub, ")"),
      pieces("(", sub, " ? ", sub, " : ", sub, ")"),
      pieces("($x := ", sub, "; ", sub, ")"),
      pieces("[", sub, ", ", sub, "]"),
      pieces("[$x := ", sub, ", ", sub, "]"),
      pieces('{"k": $x := ', sub, ', "l": ', sub, "}"),
      pieces("[", sub, "..", sub, "]"),
      pieces('{"k": ', sub, ', "l": ', sub, "}"),
      pieces("{", sub, ": ", sub, "}"),
      pieces(tie("path"), '{"k": ', sub, "}"),
      pieces(tie("path"), "{$string(", sub, "): ", sub, "}"),
      pieces("-", tie("atom")),
      { weight: 3, arbitrary: tie("call") },
      pieces(
        "(",
        sub,
        " ~> ",
        fc.constantFrom("$count", "$string", "$sum()", "$append(1)", "$f", "$keys"),
        ")",
      ),
      pieces("(", sub, " ~> |", name, '|{"n": ', sub, "}|)"),
      pieces("(", sub, " ~> |", name, '|{"__proto__": ', sub, "}|)"),
      pieces(
        fc.constantFrom("$map", "$filter", "$each", "$sift", "$single", "$sort"),
        "(",
        sub,
        ", ",
        tie("callback"),
        ")",
      ),
      pieces("$reduce(", sub, ", ", tie("callback"), ", ", sub, ")"),
      pieces(tie("callback"), "(", sub, ", ", sub, ")"),
      pieces("$match(", fc.constantFrom('"ab"', '"xb"', "a", "b", "$string($)"), ", /(a)|(b)|x/)"),
      pieces("$contains(", sub, ", /", fc.constantFrom("a", "[ab]", "x"), "/)"),
      pieces(
        "$replace(",
        sub,
        ", /(a|b)/, ",
        fc.constantFrom('"[$1]"', '"$0$0"', "function($m){$m.match}"),
        ")",
      ),
    ),
    atom: fc.oneof(
      literal,
      name,
      fc.constantFrom("%", "%.a", "%.%.b", "$", "$$", "$x", "$y", "$v", "$i", "$$.a", "$y.a", "$x.b"),
    ),
    path: fc
      .tuple(
        fc.oneof({ weight: 3, arbitrary: name }, fc.constantFrom("$", "$$", "$y", "$x"), step),
        fc.array(fc.tuple(fc.constantFrom(".", ""), step, behind), { maxLength: 3 }),
        behind,
      )
      .map(
        ([first, more, last]) => first + last + more.map(([, next, after]) => `.${next}${after}`).join(""),
      ),
    step,
    call: fc
      .constantFrom(...CALLS)
      .chain(([called, count]) =>
        fc.array(sub, { minLength: count, maxLength: count }).map((args) => `$${called}(${args.join(", ")})`),
      ),
    /** A call whose result is a sequence, which may have sequences in it. */
    list: pieces(
      fc.constantFrom("$map", "$each", "$filter", "$append"),
      "(",
      tie("path"),
      ", ",
      tie("callback"),
      ")",
    ),
    callback: fc.oneof(
      pieces("function($x){", sub, "}"),
      pieces("function($x){", fc.constantFrom("$keys", "$spread", "$append"), "($x)}"),
      pieces("function($x, $y){", sub, "}"),
      pieces("function($v, $i, $w){", sub, "}"),
      fc.constantFrom("$string", "$count", "$keys", "$type", "$substring(?, 0, 1)", "$append(?, 1)"),
    ),
  };
});

export const expressions: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: expression },
  { weight: 4, arbitrary: path },
  { weight: 1, arbitrary: list },
);
