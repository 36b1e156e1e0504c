// Bundles the program with its dependencies: a start then reads a few files in place of twelve hundred.
import { createHash } from "node:crypto";
import { globSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { defineConfig } from "rolldown";

const SOURCES = join(import.meta.dirname, "src");

/** Identifies these sources and their dependencies. */
function buildId() {
  const hash = createHash("sha256");
  for (const file of ["package-lock.json", ...globSync("src/**/*.ts").sort()])
    hash.update(readFileSync(file));
  return hash.digest("hex").slice(0, 16);
}

/** All chunks are in `dist/`. Modules that look for files near their own are given the place that they have in `src/`. */
const keepPlaces = {
  name: "keep-places",
  transform: {
    filter: { id: /\/src\/.*\.ts$/, code: "import.meta." },
    handler(code, id) {
      const place = relative(SOURCES, id).replace(/\.ts$/, ".js");
      const placed = code
        .replaceAll("import.meta.url", `new URL("./${place}", import.meta.url).href`)
        .replaceAll("import.meta.dirname", `(import.meta.dirname + "/${dirname(place)}")`);
      return { code: placed, map: null };
    },
  },
};

/** Express brings a body parser with tables of East Asian character sets. JSON is UTF-8. */
const leaveOutCharacterSets = {
  name: "leave-out-character-sets",
  load: {
    filter: { id: /\/iconv-lite\/encodings\/dbcs-data\.js$/ },
    handler: () => "module.exports = {};",
  },
};

/**
 * An ES import of `node:http` reads all its exports. That of `WebSocket` loads the `fetch` of Node, which takes 1 MB and tens
 * of milliseconds of a start.
 */
const requireHttp = {
  name: "require-http",
  resolveId: { filter: { id: /^(?:node:)?http$/ }, handler: () => "\0http" },
  load: {
    filter: { id: /^\0http$/ },
    handler: () => "module.exports = process.getBuiltinModule('node:http');",
  },
};

/** V8 keeps a source in half of the memory if it is ASCII. */
const escapeUnicode = {
  name: "escape-unicode",
  generateBundle(_options, bundle) {
    for (const chunk of Object.values(bundle))
      chunk.code = chunk.code?.replaceAll(
        // oxlint-disable-next-line no-control-regex -- all but ASCII
        /[^\x00-\x7f]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
      );
  },
};

/** The folder of the package that a module belongs to; undefined for the program's own modules. */
const packageFolder = (id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0];

/** The name, the version and the license of a package, as its license asks of copies. */
function describeLicense(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  const text = file === undefined ? "" : `\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
  return `${name} ${version} (${license})\n${text}`;
}

/** Writes the licenses of all packages in the bundle. */
const writeLicenses = {
  name: "write-licenses",
  generateBundle(_options, bundle) {
    const modules = Object.values(bundle).flatMap(({ moduleIds = [] }) => moduleIds);
    const folders = [...new Set(modules.flatMap((id) => packageFolder(id) ?? []))].sort();
    const source = folders.map(describeLicense).join(`\n${"-".repeat(80)}\n\n`);
    this.emitFile({ type: "asset", fileName: "LICENSES.txt", source });
  },
};

export default defineConfig({
  input: {
    main: "src/main.ts",
    index: "src/index.ts",
    "audit/sqlite/worker": "src/audit/sqlite/worker.ts",
    "app/pack-check-thread": "src/app/pack-check-thread.ts",
  },
  platform: "node",
  transform: { define: { BUILD_ID: JSON.stringify(buildId()) } },
  // `pg` takes it in place of its own client where somebody has installed it.
  external: ["pg-native"],
  plugins: [keepPlaces, leaveOutCharacterSets, requireHttp, escapeUnicode, writeLicenses],
  output: {
    dir: "dist",
    chunkFileNames: "[name].js",
    comments: { legal: true, annotation: false, jsdoc: false },
    sourcemap: true,
    sourcemapExcludeSources: true,
  },
});
