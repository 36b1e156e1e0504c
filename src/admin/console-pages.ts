import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Router } from "express";
import type { RequestHandler, Response } from "express";

/** Beside this file, in the sources and in the build alike. */
const FOLDER = fileURLToPath(new URL("./public/", import.meta.url));

/** What the sign-in form needs as well; nothing in it is worth a token. */
const OPEN = /\.(?:css|svg)$|^theme\.js$/;

/** Why the form is shown. */
export type SignIn = "asked" | "wrong" | "limited";

export interface Pages {
  /** `GET /` and its scripts. */
  readonly console: Router;
  /** Styles and the icon: for everybody. */
  readonly open: Router;
  /** Answers with the form that takes the admin token: status 401, or 429 for too many wrong ones. */
  readonly signIn: (response: Response, shown: SignIn) => void;
}

/**
 * Reads the files of the console, once: what is not among them is not served, whatever a path says.
 *
 * @param signOut Whether there are sessions that one can sign out of.
 * @throws {Error} where a file is missing.
 */
export function readPages(signOut: boolean): Pages {
  const index = signOut ? read("index.html").replace(" hidden data-sign-out", "") : read("index.html");
  const form = read("sign-in.html");
  const assets = readdirSync(FOLDER, { recursive: true, encoding: "utf8" })
    .map((name) => name.replaceAll("\\", "/"))
    .filter((name) => /\.(?:js|css|svg)$/.test(name));

  function signIn(response: Response, shown: SignIn): void {
    response
      .status(shown === "limited" ? 429 : 401)
      .type("html")
      .send(form.replace(` hidden data-${shown}`, ""));
  }

  const isOpen = (name: string): boolean => OPEN.test(name);
  return {
    console: routes({ "/": send("html", index), ...handlers(assets.filter((name) => !isOpen(name))) }),
    open: routes(handlers(assets.filter(isOpen))),
    signIn,
  };
}

const handlers = (names: readonly string[]): Record<string, RequestHandler> =>
  Object.fromEntries(
    names.map((name) => [`/${name}`, send(name.slice(name.lastIndexOf(".") + 1), read(name))]),
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
