/** What one would put there if nothing had to be translated: bare Express with http-proxy-middleware. */
import type { AddressInfo } from "node:net";
import express from "express";
import { createProxyMiddleware } from "http-proxy-middleware";

const [target = ""] = process.argv.slice(2);
const app = express();
app.use(createProxyMiddleware({ target, changeOrigin: true }));

const server = app.listen(0, "127.0.0.1", () => {
  process.stdout.write(`Listening http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
