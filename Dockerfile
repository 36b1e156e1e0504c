FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json rolldown.config.js ./
COPY src src
# The build contains the dependencies.
RUN npm run build && mkdir -p node_modules/.cache && chown 1000 node_modules/.cache
COPY mappings mappings
# Node compiles the program here, as the user that runs it (node), and not at each start: a container can't write the cache.
USER 1000
RUN SANDBOX=true PORT=0 ADMIN_PORT=0 DATA_DIR=node_modules/.cache/data \
    timeout --preserve-status --signal=TERM 10 node dist/main.js serve && rm -rf node_modules/.cache/data

FROM node:24-slim
# The admin listener stays inside until ADMIN_HOST and ADMIN_TOKEN open it.
# NODE_OPTIONS and MALLOC_ARENA_MAX reduce what is resident under load by about a third: V8 would let new objects pile up to 64 MB,
# and the C library keep freed buffers in an arena for each thread. With the two thresholds of 2 MB, the C library gives back to the system what a
# start needed, but keeps the 1 MB that zstd needs for each segment of the audit (docs/internals/performance.md).
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=8080 \
    ADMIN_HOST=127.0.0.1 \
    ADMIN_PORT=8081 \
    DATA_DIR=/data \
    NODE_OPTIONS=--max-semi-space-size=16 \
    MALLOC_ARENA_MAX=1 \
    MALLOC_TRIM_THRESHOLD_=2097152 \
    MALLOC_MMAP_THRESHOLD_=2097152
WORKDIR /app
COPY --from=build /app/node_modules/.cache node_modules/.cache
COPY --from=build /app/dist dist
COPY package.json LICENSE ./
COPY mappings mappings
# A volume begins with what the image has at its place, its owner included.
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080 8081
# Where ADMIN_PORT=off, run with --no-healthcheck: there is nothing to ask then.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 \
    CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.ADMIN_PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# The program itself: npm doesn't hand signals on reliably.
CMD ["node", "dist/main.js", "serve"]
