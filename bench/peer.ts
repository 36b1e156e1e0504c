/**
 * What one would put there if nothing had to be translated: bare Express with http-proxy-middleware. With `none` it runs
 * without Express, and with `chain` with cors and a second router: the differences are what those cost.
 */
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import cors from "cors";
import express from "express";
import { createProxyMiddleware } from "http-proxy-middleware";

const [target = "", kind = "express"] = process.argv.slice(2);
const proxy = createProxyMiddleware({ target, changeOrigin: true });

function createListener(): RequestListener {
  if (kind === "none") return (request, response) => void proxy(request, response);
  const app = express();
  if (kind === "chain") app.use(cors({ origin: false }), express.Router());
  return app.use(proxy);
}

const server = createServer(createListener()).listen(0, "127.0.0.1", () => {
  process.stdout.write(`Listening http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
