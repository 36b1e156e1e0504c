/** Receives notices and prints a line for each. A real receiver checks their signatures first: docs/reference/notices.md. */
import { createServer } from "node:http";

createServer(async (request, response) => {
  const { type, data } = JSON.parse(Buffer.concat(await request.toArray()));
  console.log(type, data.stage ?? data.client ?? data.receiver);
  response.end();
}).listen(9000, "127.0.0.1");
