/** The three renderers of blocks. */
import { describe, expect, test } from "@jest/globals";
import type { Block } from "../../../src/base/blocks/block.ts";
import { renderDocument } from "../../../src/base/blocks/html.ts";
import { renderMarkdown } from "../../../src/base/blocks/markdown.ts";
import { renderScript, renderTerminal } from "../../../src/base/blocks/terminal.ts";

const TABLE: Block = {
  kind: "table",
  caption: "Routes",
  columns: [{ name: "Calls", number: true }, { name: "Route" }],
  rows: [
    ["12", [{ code: "GET /a|b" }]],
    ["3", ["gone ", { tag: "removed", tone: "bad" }]],
  ],
};

describe("in a terminal", () => {
  test("columns of numbers are aligned on the right, and texts have no marks", () => {
    expect(renderTerminal([TABLE])).toBe(
      ["Routes:", "Calls  Route", "   12  GET /a|b", "    3  gone removed", ""].join("\n"),
    );
  });

  test("a table that is too wide folds its longest cells between words", () => {
    const wide: Block = {
      ...TABLE,
      caption: "",
      columns: [{ name: "" }, { name: "" }],
      rows: [["old", "one two three four five"]],
    };
    expect(renderTerminal([wide], { width: 20 })).toBe("old  one two three\n     four five\n");
    expect(renderTerminal([wide])).toBe("old  one two three four five\n");
  });

  test("a list shows its items below each other, those of an item indented", () => {
    const list: Block = { kind: "list", items: ["one", { line: "two", items: ["three"] }] };
    expect(renderTerminal([{ kind: "heading", level: 3, line: "Items" }, list])).toBe(
      "Items\none\ntwo\n  three\n",
    );
  });

  test("names and values are columns", () => {
    const values: Block = {
      kind: "values",
      values: [
        ["data", "shared"],
        ["lag", "200 ms"],
      ],
    };
    expect(renderTerminal([values])).toBe("data  shared\nlag   200 ms\n");
  });

  test("a text of a client acts on nothing and starts no line", () => {
    const text = renderTerminal([{ kind: "text", line: "a\u001B[2J\nb" }]);
    expect(text).toBe("a\\u001b[2J\\u000ab\n");
  });
});

test("a script has code that runs, and no other text that does", () => {
  const script = renderScript([
    { kind: "list", items: ["one", { line: "two\nrm x", items: ["three"] }] },
    { kind: "code", title: "a\nrm y", text: "curl x" },
  ]);
  expect(script).toBe("# one\n# two\\u000arm x\n#   three\n\n# a\\u000arm y\ncurl x\n");
});

describe("in Markdown", () => {
  test("a bar ends no cell", () => {
    expect(renderMarkdown([TABLE])).toContain(String.raw`| 12 | ${"`"}GET /a\|b${"`"} |`);
  });

  test.each([
    ["<b>", "&#60;b&#62;"],
    ["@everyone", "&#64;everyone"],
    ["http://evil/", "http&#58;//evil/"],
    ["www.evil.example", "www&#46;evil.example"],
    ["- item", String.raw`\- item`],
    ["1. item", String.raw`1\. item`],
    ["[x](y)", String.raw`\[x\](y)`],
  ])("%j is text", (text, written) => {
    expect(renderMarkdown([{ kind: "text", line: text }])).toBe(`${written}\n`);
  });
});

test("HTML has the labels with their tones, and texts as texts", () => {
  const html = renderDocument("<title>", [TABLE, { kind: "text", line: "<script>" }]);
  expect(html).toContain("<title>&lt;title&gt;</title>");
  expect(html).toContain('<span class="tag bad">removed</span>');
  expect(html).toContain("<p>&lt;script&gt;</p>");
});
