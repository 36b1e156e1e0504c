/** The v4 service and the login server of a soak: the sandbox, without its own limit, in a process of its own. */
import { startSandbox } from "../../src/sandbox/create-sandbox.ts";

const [tokenSeconds] = process.argv.slice(2).map(Number);
const { url, authUrl, tokens } = await startSandbox({
  rateLimit: { limit: Number.MAX_SAFE_INTEGER, seconds: 120 },
  ...(tokenSeconds !== undefined && { tokenSeconds }),
});
process.stdout.write(`Login ${authUrl}\nFull ${tokens.full}\nOther ${tokens.other}\nListening ${url}\n`);
