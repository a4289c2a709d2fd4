# The image of a service of services.json:
#   docker build --build-arg SERVICE=... --target service .    (SERVICE is a folder of services.json, such as packages/event-gateway)
#
#   service   the service; its sidecar is a container of its own (docker-compose.yml)
#   release   service and sidecar in one container, for platforms that run one image an application
#   setup     with SERVICE=packages/cli: what Compose needs once before the services start

FROM node:24.21.0-bookworm-slim AS packages
ARG SERVICE
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY envelope-schema/package.json envelope-schema/
COPY packages/envelope/package.json packages/envelope/
COPY packages/service-kit/package.json packages/service-kit/
COPY ${SERVICE}/package.json ${SERVICE}/
# Source maps and type declarations are half of the bytes, and nothing reads them here.
RUN npm ci --omit=dev --workspace=${SERVICE} --no-audit --no-fund \
  && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete

# The page of a service that has one. What bundles it is in no image.
FROM packages AS page
ARG SERVICE
COPY packages/envelope packages/envelope/
COPY ${SERVICE} ${SERVICE}/
RUN mkdir -p "${SERVICE}/dist" \
  && if [ -f "${SERVICE}/page/build.ts" ]; then npm ci --workspace="${SERVICE}" --no-audit --no-fund && node "${SERVICE}/page/build.ts"; fi

# Not node:…-slim itself: npm, yarn and headers would come along.
FROM debian:bookworm-slim AS base
ARG SERVICE
COPY --from=packages /usr/local/bin/node /usr/local/bin/node
COPY --from=packages /app /app
COPY envelope-schema /app/envelope-schema
COPY packages/envelope /app/packages/envelope
COPY packages/service-kit /app/packages/service-kit
COPY components/trust /app/components/trust
COPY ${SERVICE} /app/${SERVICE}
COPY --from=page /app/${SERVICE}/dist /app/${SERVICE}/dist
# For a service that keeps files of its own; where no volume is mounted they go with the container.
RUN install -d -o 10001 -g 10001 -m 700 /data
# glibc gives every thread an arena of its own: 15 MB a service for nothing.
ENV NODE_ENV=production MALLOC_ARENA_MAX=2 Monitor__Folder=/data
USER 10001:10001
WORKDIR /app/${SERVICE}

FROM base AS setup
USER root
RUN install -d -o 10001 -g 10001 /certificates
COPY services.json /app/services.json
USER 10001:10001
ENTRYPOINT ["node", "src/commands/setup.ts", "/certificates"]

FROM base AS service
# Listens on $PORT where a platform sets it, else on the port of appsettings.json.
ENV Web__Host=0.0.0.0
# The heap limits are those of packages/cli/src/processes/process-spec.ts.
ENTRYPOINT ["node", "--max-semi-space-size=16", "--initial-heap-size=128", "--max-old-space-size=1024", "src/main.ts"]

FROM daprio/daprd:1.18.2 AS sidecar

FROM service AS release
COPY --from=sidecar /daprd /usr/local/bin/daprd
COPY --from=sidecar /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY components /app/components
COPY packages/cli/release-image /app/packages/cli/release-image
# The platform's router: it says in X-Forwarded-For whom a request comes from.
ENV Web__Proxies=1
ENTRYPOINT ["/app/packages/cli/release-image/start"]

# What is built without --target.
FROM service
