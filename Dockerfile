FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY src src
RUN npm run build:program

FROM node:24-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev
# npm refuses to list an installation in which packages of package.json are missing.
RUN npm pkg delete devDependencies peerDependencies && npm sbom --sbom-format=cyclonedx > sbom.cdx.json
COPY --from=build /app/dist dist
COPY mappings mappings
RUN mkdir -p node_modules/.cache && chown 1000 node_modules/.cache
# Node compiles the program here, as the user that runs it (node), and not at each start: a container can't write the cache.
USER 1000
RUN SANDBOX=true PORT=0 ADMIN_PORT=0 DATA_DIR=node_modules/.cache/data \
    timeout --preserve-status --signal=TERM 10 node dist/main.js serve && rm -rf node_modules/.cache/data

FROM node:24-slim
# The admin listener stays inside until ADMIN_HOST and ADMIN_TOKEN open it.
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=8080 \
    ADMIN_HOST=127.0.0.1 \
    ADMIN_PORT=8081 \
    DATA_DIR=/data
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=packages /app/sbom.cdx.json ./
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
