/** Loads the connection to Redis and what is kept there, with their package: only gateways that use Redis need it. */
export async function loadRedis(): Promise<
  Pick<typeof import("./redis-client.ts"), "connectRedis" | "isRejection"> &
    Pick<typeof import("./redis-store.ts"), "createRedisStore">
> {
  const [{ connectRedis, isRejection }, { createRedisStore }] = await Promise.all([
    import("./redis-client.ts"),
    import("./redis-store.ts"),
  ]);
  return { connectRedis, isRejection, createRedisStore };
}
