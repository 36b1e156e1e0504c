import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Router } from "express";
import type { RequestHandler, Response } from "express";
import { COLORS } from "../base/index.ts";

/** The folder is next to this file, in the sources and in the build. */
const FOLDER = fileURLToPath(new URL("./public/", import.meta.url));

/** Matches the files that the sign-in form also needs. They contain no secrets. */
const OPEN = /\.(?:css|svg)$|^theme\.js$/;

/** Scripts of packages that the pages import, unchanged. They have no imports. */
const PACKAGES: Readonly<Record<string, string>> = {
  "/lib/preact.js": "preact",
  "/lib/htm.js": "htm",
};

/** The reason for the form: there is no token, a wrong token, or there were too many wrong tokens. */
export type SignIn = "asked" | "wrong" | "limited";

/** The pages of the console. */
export type Pages = ReturnType<typeof readPages>;

/**
 * Reads the files of the console once. No other file can be served, regardless of the path of a request.
 *
 * @param signOut whether the console has a sign-out button
 * @throws {Error} if a file is missing
 */
export function readPages(signOut: boolean) {
  const index = signOut ? read("index.html").replace(" hidden data-sign-out", "") : read("index.html");
  const form = read("sign-in.html");
  const assets = readdirSync(FOLDER, { recursive: true, encoding: "utf8" })
    .map((name) => name.replaceAll("\\", "/"))
    .filter((name) => /\.(?:js|css|svg)$/.test(name));

  /** Sends the sign-in form, with status 401, or 429 after too many wrong tokens. */
  function signIn(response: Response, shown: SignIn): void {
    response
      .status(shown === "limited" ? 429 : 401)
      .type("html")
      .send(form.replace(` hidden data-${shown}`, ""));
  }

  const isOpen = (name: string): boolean => OPEN.test(name);
  return {
    /** The handlers of `GET /` and its scripts. */
    console: routes({
      "/": send("html", index),
      ...handlers(assets.filter((name) => !isOpen(name))),
      ...packageHandlers(),
    }),
    /** The handlers of styles and the icon, which need no token. */
    open: routes({ ...handlers(assets.filter(isOpen)), "/css/colors.css": send("css", COLORS) }),
    signIn,
  };
}

const handlers = (names: readonly string[]): Record<string, RequestHandler> =>
  Object.fromEntries(
    names.map((name) => [`/${name}`, send(name.slice(name.lastIndexOf(".") + 1), read(name))]),
  );

const packageHandlers = (): Record<string, RequestHandler> =>
  Object.fromEntries(
    Object.entries(PACKAGES).map(([path, name]) => [
      path,
      send("js", readFileSync(fileURLToPath(import.meta.resolve(name)), "utf8")),
    ]),
  );

function routes(all: Readonly<Record<string, RequestHandler>>): Router {
  const router = Router({ caseSensitive: true, strict: true });
  for (const [path, handler] of Object.entries(all)) router.get(path, handler);
  return router;
}

function send(type: string, text: string): RequestHandler {
  return function sendText(_request, response) {
    response.type(type).send(text);
  };
}

function read(name: string): string {
  return readFileSync(FOLDER + name, "utf8");
}
