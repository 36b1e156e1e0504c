/** The sandbox in a process of its own, as the new service of both gateways. */
import { startSandbox } from "../../src/sandbox/create-sandbox.ts";

const { url, tokens } = await startSandbox({ rateLimit: { limit: 1_000_000_000, seconds: 1 } });
process.stdout.write(`Token ${tokens.full}\nListening ${url}\n`);
