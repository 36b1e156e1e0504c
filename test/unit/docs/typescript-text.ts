/** One piece of a TypeScript file in which a word may be: prose in a comment or a string, or a name. */
export interface Piece {
  readonly kind: "comment" | "string" | "identifier";
  /** The first line is 1. */
  readonly line: number;
  readonly text: string;
  /** Of an identifier: whether `const`, `let` or `function` declares it here. */
  readonly isDeclared?: boolean;
}

const SPACE = String.raw`[ \t\r\n]+`;
const COMMENT = String.raw`\/\*[^]*?\*\/|\/\/[^\n]*`;
const STRING = String.raw`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'`;
const IDENTIFIER = String.raw`[\p{L}_$#][\p{L}\p{N}_$]*`;
const REGEX = String.raw`\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*`;

const matcher = (pattern: string): RegExp => new RegExp(pattern, "uy");
const TOKENS = matcher(
  `(?<space>${SPACE})|(?<comment>${COMMENT})|(?<string>${STRING})|(?<identifier>${IDENTIFIER})|[0-9][\\w.]*|[^]`,
);
const REGEX_TOKEN = matcher(REGEX);
/** Text of a template literal up to its end or its next expression. */
const TEMPLATE_TEXT = matcher(String.raw`(?:[^\\` + "`" + String.raw`$]|\\[^]|\$(?!\{))*`);

/** Before a `/`, these end an expression: the slash divides. */
const ENDS_EXPRESSION = /[\p{L}\p{N}_$)\]}"'`]$/u;
const KEYWORDS = new Set(["return", "typeof", "case", "in", "of", "void", "yield", "await", "else"]);
const DECLARES = new Set(["const", "let", "var", "function"]);

/** Splits a TypeScript file into its comments, strings and identifiers. Regular expressions and numbers are left out. */
export function readTypeScript(source: string): Piece[] {
  const pieces: Piece[] = [];
  /** For each template literal that is open: the braces that are open in its expression. */
  const templates: number[] = [];
  let at = 0;
  let line = 1;
  let previous = "";

  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(source);
  };
  const advance = (text: string): void => {
    at += text.length;
    line += text.split("\n").length - 1;
  };
  function readTemplate(): void {
    const text = match(TEMPLATE_TEXT)?.[0] ?? "";
    pieces.push({ kind: "string", line, text });
    advance(text);
    if (source[at] === "$") {
      templates.push(0);
      at += 2;
      previous = "{";
    } else {
      at += 1;
      previous = "`";
    }
  }

  while (at < source.length) {
    const divides = ENDS_EXPRESSION.test(previous) && !KEYWORDS.has(previous);
    const regex = source[at] === "/" && !/[/*]/.test(source[at + 1] ?? "") && !divides && match(REGEX_TOKEN);
    const token = regex || match(TOKENS);
    const text = token?.[0] ?? "";
    const { space, comment, string, identifier } = (!regex && token?.groups) || {};
    if (comment !== undefined) pieces.push({ kind: "comment", line, text });
    if (string !== undefined) pieces.push({ kind: "string", line, text: text.slice(1, -1) });
    if (identifier !== undefined)
      pieces.push({ kind: "identifier", line, text, isDeclared: DECLARES.has(previous) });
    advance(text);
    if (space !== undefined || comment !== undefined) continue;
    previous = text;
    if (text === "`") readTemplate();
    else if (text === "{" && templates.length > 0) templates.push((templates.pop() ?? 0) + 1);
    else if (text === "}" && templates.length > 0) {
      const open = templates.pop() ?? 0;
      if (open === 0) readTemplate();
      else templates.push(open - 1);
    }
  }
  return pieces;
}
