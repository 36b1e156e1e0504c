/** Faults that other suites inject, and their effects. */
export interface TestedElsewhere {
  readonly fault: string;
  readonly outcome: string;
  readonly file: string;
  /** Text of the test's name. */
  readonly test: string;
}

export const ELSEWHERE: readonly TestedElsewhere[] = [
  {
    fault: "v4 fails again and again",
    outcome: "the circuit opens: requests get 500 at once without a v4 call; one call a second probes v4",
    file: "test/gateway/upstream/client.test.ts",
    test: "opens the circuit after enough of",
  },
  {
    fault: "v4 fails clients of its own dialect again and again",
    outcome: "the circuit opens for both pipelines: 503 with Retry-After at once",
    file: "test/gateway/forward/native-proxy.test.ts",
    test: "opens the circuit: 503 with Retry-After",
  },
  {
    fault: "v4 sends interim responses or header lines without end to clients of its own dialect",
    outcome: "they get 500 after `UPSTREAM_TIMEOUT_MS`, as from a v4 that sends nothing",
    file: "test/gateway/hostile/native-slow-v4.test.ts",
    test: "gets UPSTREAM_TIMEOUT_MS for its head: the client gets what it gets from a silent v4",
  },
  {
    fault: "v4 sends a byte of a response now and then to clients of its own dialect",
    outcome: "the response goes on until somebody waits for its connection",
    file: "test/gateway/hostile/native-slow-v4.test.ts",
    test: "is ended while somebody waits for its connection",
  },
  {
    fault: "v4 fails requests with tokens that it has not accepted yet",
    outcome: "they do not use up the limit of their address: clients are served as soon as v4 is back",
    file: "test/gateway/auth/accepted-tokens.test.ts",
    test: "a v4 that fails does not use up the limit of an address",
  },
  {
    fault: "v4 never responds, at start and at shutdown",
    outcome: "neither is delayed",
    file: "test/system/e2e/shutdown.test.ts",
    test: "an unresponsive v4 delays neither the start nor the exit",
  },
  {
    fault: "every fault of v4 above, under load",
    outcome: "no connection to v4 is left, and no more descriptors and memory than before",
    file: "test/system/chaos/leaks.test.ts",
    test: "leaves no connection, no descriptor and no memory behind",
  },
  {
    fault: "v4's name does not resolve at the start",
    outcome: "serves, is not ready, responds with 500; becomes ready once the name resolves",
    file: "test/system/chaos/names.test.ts",
    test: "at the start: gives 500 and is not ready, until it resolves",
  },
  {
    fault: "v4's name no longer resolves",
    outcome: "open connections are used further; 500 without one, until the name resolves again",
    file: "test/system/chaos/names.test.ts",
    test: "later: open connections are used, and 500 without one",
  },
  {
    fault: "a client disconnects",
    outcome: "the v4 calls of its request are aborted, and no other is started",
    file: "test/gateway/http/client-disconnects.test.ts",
    test: "a client's disconnect aborts the v4 request and starts no other",
  },
  {
    fault: "Redis ends or hangs under load, and comes back",
    outcome: "no request fails; limits by share; not ready until it is back",
    file: "test/system/e2e/replicas.test.ts",
    test: "no request is refused, fails or hangs, and it comes back",
  },
  {
    fault: "Redis is restarted with nothing in it",
    outcome:
      "issued tokens get 401 in both pipelines, never 200; a sign-in in progress gets the lowest levels that match",
    file: "test/system/chaos/redis-emptied.test.ts",
    test: "rejects a DELETE by tokens of level modify with 401, in alpha and as Bearer",
  },
  {
    fault: "Redis hangs",
    outcome:
      "the first command times out after half a second; after it none waits until Redis responds to a ping",
    file: "test/gateway/state/redis-key-value-store.test.ts",
    test: "waits once for a Redis that hangs",
  },
  {
    fault: "Redis is full, or a replica that can only be read",
    outcome: "tokens can be read, nothing is evicted; limits by share; not ready until it can be written",
    file: "test/gateway/state/redis-key-value-store.test.ts",
    test: "is not ready while Redis is full",
  },
  {
    fault: "a file of SQLite is removed or replaced while the gateway runs",
    outcome:
      "serves; not ready, with the name of the file; records wait and don't count as written; sign-ins fail. A file that is put back is used again, otherwise a restart begins with an empty one",
    file: "test/system/chaos/files-removed.test.ts",
    test: "records for a removed audit.db wait, and do not count as written, until it is back",
  },
  {
    fault: "a stored record is damaged, or something else has written it",
    outcome:
      "left out of pages, which is logged, and an error alone, which names it; space is made in spite of it",
    file: "test/audit/store/store-contract.ts",
    test: "leaves a damaged record out of a page and of an export as CSV, and does not return it alone",
  },
  {
    fault: "a stored segment is damaged, ends too early, or is a little that decompresses to a lot",
    outcome: "its records are left out of pages and named in an error alone; the others are read",
    file: "test/audit/store/sqlite-store.test.ts",
    test: "leaves out the records of a segment that %s, and reads the others",
  },
  {
    fault: "the audit store fails midway in an export over HTTP",
    outcome: "logged once; the response breaks off, so that nobody takes it for complete",
    file: "test/console/admin-app.test.ts",
    test: "breaks off as %s, and is logged once, if the store cannot be read midway",
  },
  {
    fault: "the logger or the tracer of an embedding program throws, or returns a promise that is rejected",
    outcome: "no request is affected, every record is written; reported once",
    file: "test/app/library/host-services.test.ts",
    test: "where it %s: its failure is written once",
  },
  {
    fault: "tokens are purged while information about them is on its way to Redis",
    outcome: "what arrives behind the purge is deleted again",
    file: "test/gateway/auth/token-cache.test.ts",
    test: "L-21 also deletes what is on its way to the shared cache",
  },
  {
    fault: "the stored record of a token is damaged",
    outcome: "the token gets 401, and the log says so",
    file: "test/gateway/oauth/token-store.test.ts",
    test: "permits nothing if its record is",
  },
  {
    fault: "the stored mark of a new store is damaged",
    outcome: "counts as that of an emptied store: the lowest levels that fit for an hour",
    file: "test/gateway/oauth/requested-scopes.test.ts",
    test: "an epoch that is not valid",
  },
  {
    fault: "Redis refuses scripts, a command of the rate limits, channels, or the count of replicas (ACL)",
    outcome: "limits by share; not ready, with the reason in the log",
    file: "test/system/e2e/replicas.test.ts",
    test: "a Redis that permits writes and refuses",
  },
  {
    fault: "a program that is not Redis responds at its address",
    outcome: "not ready; every reply of another type is a failure, never a value",
    file: "test/gateway/state/redis-key-value-store.test.ts",
    test: "fails where a program responds that is not Redis",
  },
  {
    fault: "Redis is unreachable at the start",
    outcome: "serves, is not ready, and becomes ready once Redis responds",
    file: "test/system/e2e/replicas.test.ts",
    test: "lets a gateway start, which serves and becomes ready when Redis is back",
  },
  {
    fault: "a connection to PostgreSQL dies silently",
    outcome: "closed within 17 seconds, and replaced; relaxed: no record is lost; strict: 500",
    file: "test/system/chaos/postgres.test.ts",
    test: "silently drops a connection: it is replaced",
  },
  {
    fault: "the disk of `DATA_DIR` is full, under load",
    outcome:
      "relaxed: no request fails, no record is lost; strict: 500, counted; not ready until there is space; the file is whole",
    file: "test/system/chaos/disk-full.test.ts",
    test: "fails no request with relaxed audit, loses no record",
  },
  {
    fault: "the disk of `DATA_DIR` is full at the start",
    outcome: "it exits with an error; it starts once there is space",
    file: "test/system/chaos/disk-full.test.ts",
    test: "is reported at a start",
  },
  {
    fault: "800 requests with made-up tokens and long user agents, `AUDIT_SIZE_LIMIT=10mb`",
    outcome: "one client in the summaries; no record is deleted",
    file: "test/system/chaos/audit-flood.test.ts",
    test: "deletes no record",
  },
  {
    fault: "a client that has exceeded its limit continues to send requests",
    outcome: "two records a minute for each kind of request; metrics and summaries count all",
    file: "test/gateway/hostile/merge-rejections.test.ts",
    test: "a stranger who is over the limit has two records in the store",
  },
  {
    fault: "more records and summaries than fit, SQLite and PostgreSQL",
    outcome:
      "records are deleted: first rejected requests of clients without an accepted token, then other requests of such clients, then of the client with the largest share: its oldest bodies, then its oldest records; counted in `alpha_gateway_audit_evicted_total`; summaries of strangers first, then of the largest client, never a record for them",
    file: "test/audit/store/store-contract.ts",
    test: "delete summaries of strangers first, then of the largest client, and no records for them",
  },
  {
    fault: "one accepted client sends 480 large requests in both dialects, `AUDIT_SIZE_LIMIT=10mb`",
    outcome: "its oldest bodies and records are removed; its newest stay, and all records of another client",
    file: "test/system/chaos/audit-flood.test.ts",
    test: "a flood of an accepted client deletes no record of another client",
  },
  {
    fault: "an audit store that is unreachable for long",
    outcome:
      "10 000 records or 64 MB wait; then the oldest of the clients with the most are dropped, and counted",
    file: "test/audit/store/write-queue.test.ts",
    test: "stays within its limit of",
  },
  {
    fault: "v4 breaks a file off, or says nothing more, before its first byte",
    outcome: "500 in alpha's shape; the connection of the client stays open",
    file: "test/gateway/responses/file-faults.test.ts",
    test: "a file that breaks off before its first byte is alpha's own error",
  },
  {
    fault: "an audit store that fails while a file is streamed, strict",
    outcome:
      "the file is aborted, or a 500 takes its place while nothing was sent; no file is complete without its record",
    file: "test/system/chaos/streams.test.ts",
    test: "so that none is complete without a record",
  },
  {
    fault: "64 clients that send very slowly, or don't read, with invented or valid tokens",
    outcome: "others are served in both dialects; the circuit to v4 stays closed; ready",
    file: "test/system/chaos/streams.test.ts",
    test: "that are not read block nobody",
  },
  {
    fault: "the clock is set by three hours, forward or back: limits",
    outcome: "no client is limited, or sent a Retry-After, for longer than the window",
    file: "test/system/chaos/clock.test.ts",
    test: "does not extend a rate limit beyond its window",
  },
  {
    fault: "the same: deadlines, known tokens",
    outcome: "no call times out early or late; a rejected token is tested again at the usual time",
    file: "test/system/chaos/clock.test.ts",
    test: "times out no upstream request early or late",
  },
  {
    fault: "the same: the audit",
    outcome: "records have the time of the clock; durations are not affected",
    file: "test/system/chaos/clock.test.ts",
    test: "gives records its time, and does not affect durations",
  },
  {
    fault: "a reader of the log that hangs",
    outcome: "no request waits; lines above 1 MB are dropped and counted, and reported when it reads again",
    file: "test/system/e2e/log-reader.test.ts",
    test: "holds no request up and lets no line pile up",
  },
  {
    fault: "certificate files towards v4 that become invalid",
    outcome: "rejected; the certificates that were read before stay",
    file: "test/system/e2e/reload-certificates.test.ts",
    test: "invalid ones are rejected",
  },
  {
    fault: "SIGKILL under load, SQLite",
    outcome: "every request with a response is in the audit (strict)",
    file: "test/system/e2e/kill.test.ts",
    test: "SQLite has the record of every response",
  },
  {
    fault: "SIGKILL under load, PostgreSQL",
    outcome: "every request with a response is in the audit (strict)",
    file: "test/system/e2e/kill.test.ts",
    test: "PostgreSQL has the record of every response",
  },
  {
    fault: "SIGKILL of one of two processes that share a port",
    outcome: "the other answers all that follows",
    file: "test/system/e2e/reuse-port.test.ts",
    test: "SIGKILL of one: the other answers all that follows",
  },
  {
    fault: "the same, connections waiting",
    outcome: "they are reset, or given to the other (`net.ipv4.tcp_migrate_req`); no request hangs",
    file: "test/system/e2e/reuse-port.test.ts",
    test: "connections that wait for one that is killed end at once",
  },
  {
    fault: "SIGTERM to one of two processes that share a port, under load",
    outcome: "connections that it has not accepted are reset, none of them with a request that v4 has seen",
    file: "test/system/e2e/reuse-port.test.ts",
    test: "one starts and the other ends while requests go on",
  },
  {
    fault: "SIGTERM while requests are in flight",
    outcome: "in-flight requests end, no others are accepted, exit code 0",
    file: "test/system/e2e/shutdown.test.ts",
    test: "finishes an in-flight request of",
  },
  {
    fault: "SIGTERM to one of two behind haproxy, under POSTs",
    outcome: "none is lost, none is sent twice",
    file: "test/system/e2e/behind-balancer.test.ts",
    test: "loses no POST",
  },
  {
    fault: "another pack under load",
    outcome: "every response is built with one pack, none fails",
    file: "test/system/chaos/reload.test.ts",
    test: "replaces the pack under load",
  },
  {
    fault: "a pack with a fault under load",
    outcome: "rejected; the active pack stays",
    file: "test/system/chaos/reload.test.ts",
    test: "rejects an invalid pack",
  },
  {
    fault: "a pack that takes seconds to check, valid or not",
    outcome:
      "a thread checks it, and a valid one is compiled in slices of 10 ms: requests are served meanwhile. After 60 s the check is ended and the active pack stays",
    file: "test/app/pack-reload.test.ts",
    test: "responds to requests while it checks a pack",
  },
  {
    fault: "a catalog row on which an expression of the pack fails",
    outcome: "the row is left out, logged (`AG_CATALOG_ROWS_LEFT_OUT`) and counted; the gateway is ready",
    file: "test/app/start.test.ts",
    test: "a catalog row on which an expression of the pack fails",
  },
  {
    fault: "no catalogs for another pack",
    outcome: "the active pack stays until v4 has returned them",
    file: "test/system/chaos/reload.test.ts",
    test: "while v4 returns no catalogs, the active pack stays",
  },
];
