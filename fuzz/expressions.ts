/** Seeds and input data of the two targets that fuzz the source of expressions. */
import type { Target } from "./target.ts";

export const DOCUMENT = {
  a: 1,
  b: [1, 2, 3],
  c: { d: "text", e: null, f: [{ g: 1 }, { g: 2, h: [true] }] },
  "odd name": "é",
  big: 9_007_199_254_740_991,
};

export const expressions: Pick<Target, "covers" | "longest" | "seeds" | "dictionary"> = {
  covers: ["/src/jsonata/"],
  longest: 400,
  seeds: [
    "a",
    "c.f[g > 1].h[0]",
    '{ "x": a + 1, "y": [b.($ * 2)] }',
    "$map(b, function($v, $i) { $v + $i })",
    "c.f^(>g).g",
    "b{ $string($): $ }",
    '$join(["x", `odd name`], "-") & $uppercase(c.d)',
    "(a = 1 and $exists(c.e)) ? b[-1] : $sum(b)",
    "c ~> |f|{'new': g}, 'h'|",
    "$reduce(b, function($l, $r) { $l * $r }, 1)",
    "/t(e)x/i",
    "$map(c.f, function($x) { $keys($x) })",
    "$match(c.d, /(t)|(e)/)",
    "[$x := a, $x]",
    "c ~> |f|{'__proto__': g}|",
    "c.f@$x.b#$i.($x.g * $i)",
    "[1..5][$ % 2 = 0]",
    '$fromMillis(big, "[FNn] [D1o] [MNn,3-3] [Y]-[d001] [h]:[m] [PN] [Z01:01t]")',
    '$toMillis("2018-03-23T10:33 +01:00", "[Y]-[M]-[D]T[H]:[m] [Z]")',
    '$formatNumber(a, "#,##0.00;(0%)")',
  ],
  dictionary: [
    ..."$ $$ % ^( .. := ~> ?: and or in function λ null true false { } [ ] ( ) ** @$x #$i ; |".split(" "),
    ..."$map $filter $sort $merge $each $sift $string $number $substring $replace $split $match $join".split(
      " ",
    ),
    ..."$lookup $spread $zip $formatNumber $formatBase $toMillis $fromMillis $append $distinct $type".split(
      " ",
    ),
  ],
};
