/** Hostile expressions that must not harm the gateway, by the target of the attack. */

/** Each doubles the value of `$v`, or would. */
const DOUBLE = [
  ..."$v & $v|$append($v, $v)|[$v, $v]|{'a': $v, 'b': $v}|$join([$v, $v], '')|$string([$v, $v])".split("|"),
  ..."$zip($v, $v)|$spread([$v, $v])|$merge([{'a': $v}, {'b': $v}])|$v.[$v]|$v.($v)|[$v, $v].*".split("|"),
  ..."[$v, $v].**|$reverse([$v, $v])|$distinct([$v, $v])|[$v, $v]{'k': $}|$shuffle([$v, $v])".split("|"),
  "$pad($string($v), 2 * $length($string($v)) + 2)",
  "$replace($string($v), /./, '$0$0')",
  "$replace($string($v), 'a', 'aa')",
  "$map([1, 2], function($x){ $v })",
  "$sort([$v, $v], function($a, $b){ false })",
  "$each({'a': $v, 'b': $v}, function($x){ $x })",
  "$sift({'a': $v, 'b': $v}, function($x){ true })",
  "$reduce([1, 2], function($a, $b){ [$a, $v] })",
  "{'x': $v} ~> |$|{'y': $v}|",
  "$encodeUrlComponent($string($v) & '%%')",
  "$base64encode($string($v) & $string($v))",
  "$split($string($v) & $string($v), '')",
  "$substring($string($v) & $string($v), 0)",
  "$uppercase($string($v) & $string($v))",
  "$match($string($v) & $string($v), /./)",
  "$lookup([{'a': $v}, {'a': $v}], 'a')",
  "$formatNumber(1, $pad('#', 2 * $length($string($v)), '#'))",
  "$fromMillis(1, $string($v) & $string($v) & '[Y]')",
];

/** Each calls `$f` again, by another way. */
const CALL_AGAIN = [
  ..."$map([1], $f)|$filter([1], $f)|$reduce([1, 2], $f)|$each({'a': 1}, $f)|$sift({'a': 1}, $f)".split("|"),
  ..."$sort([2, 1], $f)|$single([1], $f)|1 ~> $f|[1].$f($)|[1][$f($)]|[1]^($f($))|{'a': $f(1)}".split("|"),
  ..."[1]{'a': $f($)}|$string($f(1))|$f(1) ? 1 : 2|$f(1) & 'x'|-$f(1)|$f($f(1))|[$f(1)..2]".split("|"),
  ..."$replace('a', /a/, $f)|$f(?)(1)|($f ~> $f)(1)|$f(1) and true|$f(1) = 1|$f(1).a|$f(1)[0]".split("|"),
  "{'a': 1} ~> |$|{'a': $f(1)}|",
];

/** Patterns that take exponential or cubic time where a match is tried again from each place. */
const PATTERNS = [
  ..."(a+)+$ (a|a)*$ (a|aa)+$ (.*)*x (.*a){20} ([a-z]+)*! (x+x+)+y ((a?){30}){30}a{30} (a*)*b".split(" "),
  ...String.raw`(?=(a+))a*b (?<!a+)b ^(\w+\s?)*$ (a{1,100}){1,100}b \s+$ (.+)+\n .*.*.*.*.*=.* (?:a|b|ab)*c`.split(
    " ",
  ),
  ...String.raw`(\d+)*[^\d]x (a{50}){50} (?:(?:a?)*)*$ a{1000}{1000}`.split(" "),
];
const WITH_PATTERN = ["$match($t, /%/)", "$replace($t, /%/, '')", "$split($t, /%/)", "$contains($t, /%/)"];

/** Sources of any depth or length. */
const NESTED: readonly ((depth: number) => string)[] = [
  (depth) => "(".repeat(depth) + "1" + ")".repeat(depth),
  (depth) => "[".repeat(depth) + "1" + "]".repeat(depth),
  (depth) => "{'a':".repeat(depth) + "1" + "}".repeat(depth),
  (depth) => `a${".a".repeat(depth)}`,
  (depth) => `a${"[0]".repeat(depth)}`,
  (depth) => `1${"+1".repeat(depth)}`,
  (depth) => `1${"&1".repeat(depth)}`,
  (depth) => `${"-".repeat(depth)}a`,
  (depth) => "true ? ".repeat(depth) + "1" + " : 1".repeat(depth),
  (depth) => "function($x){".repeat(depth) + "1" + "}".repeat(depth),
  (depth) => "$not(".repeat(depth) + "1" + ")".repeat(depth),
  (depth) => `1${" ~> $string".repeat(depth)}`,
  (depth) => `/${"(".repeat(depth)}a${")".repeat(depth)}/`,
  (depth) => `/${"a?".repeat(depth)}${"a".repeat(depth)}/`,
  (depth) => `/a{${depth}}{${depth}}/`,
];

/** Sources by the target of the attack. */
export const EXPRESSIONS: Readonly<Record<string, readonly string[]>> = {
  "results that double": DOUBLE.flatMap((double) =>
    ["'a'", "[1]"].map(
      (seed) => `($f := function($v, $n){ $n = 0 ? $v : $f(${double}, $n - 1) }; $f(${seed}, 60))`,
    ),
  ),
  recursion: CALL_AGAIN.map((call) => `($f := function($x, $y, $z){ ${call} }; $f(1))`),
  "regular expressions": PATTERNS.flatMap((pattern) =>
    WITH_PATTERN.map((call) => `($t := $pad('', -20000, 'a') & '!'; ${call.replace("%", () => pattern)})`),
  ),
  "deep sources": NESTED.flatMap((nested) => [100, 1000, 5000, 50_000].map(nested)),
};
