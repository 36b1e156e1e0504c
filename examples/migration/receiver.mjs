/** Receives notices and prints a line for each. A real receiver checks their signatures first: docs/reference/notices.md. */
import { createServer } from "node:http";
import { json } from "node:stream/consumers";

createServer((request, response) => {
  json(request).then(
    ({ type, data }) => {
      console.log(type, data.stage ?? data.client ?? data.receiver);
      return response.end();
    },
    () => response.writeHead(400).end(),
  );
}).listen(9000, "127.0.0.1");
