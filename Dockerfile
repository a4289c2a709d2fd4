# Builds the image of a service that services.json declares:
#   docker build --build-arg SERVICE=... --target service .    (SERVICE is the folder of the service, such as packages/event-gateway)
#
# The target "service" contains only the service. Its sidecar has its own container (docker-compose.yml).
# The target "release" contains the service and its sidecar, for platforms with one image for each application.
# The target "setup", with SERVICE=packages/stack, contains the program that Compose runs once before the services.

FROM node:24.21.0-bookworm-slim AS packages
ARG SERVICE
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY envelope-schema/package.json envelope-schema/
COPY packages/envelope/package.json packages/envelope/
COPY packages/kafka-log/package.json packages/kafka-log/
COPY packages/service-kit/package.json packages/service-kit/
COPY ${SERVICE}/package.json ${SERVICE}/
# Removes source maps and type declarations, which are unused, and half of all bytes.
RUN npm ci --omit=dev --workspace=${SERVICE} --no-audit --no-fund \
  && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete

# Bundles the page of a service, if it has one. Images contain the bundle, but not the bundler.
FROM packages AS page
ARG SERVICE
COPY packages/envelope packages/envelope/
COPY ${SERVICE} ${SERVICE}/
RUN mkdir -p "${SERVICE}/dist" \
  && if [ -f "${SERVICE}/page/build.ts" ]; then npm ci --workspace="${SERVICE}" --no-audit --no-fund && node "${SERVICE}/page/build.ts"; fi

# Copies only Node from the image node:…-slim, which also has npm, yarn and headers.
FROM debian:bookworm-slim AS base
ARG SERVICE
COPY --from=packages /usr/local/bin/node /usr/local/bin/node
COPY --from=packages /app /app
COPY services.json /app/
COPY envelope-schema /app/envelope-schema
COPY packages/envelope /app/packages/envelope
COPY packages/kafka-log /app/packages/kafka-log
COPY packages/service-kit /app/packages/service-kit
COPY components/trust /app/components/trust
COPY ${SERVICE} /app/${SERVICE}
COPY --from=page /app/${SERVICE}/dist /app/${SERVICE}/dist
# The folder for a service's own files. Without a volume, these files are lost when the container is removed.
RUN install -d -o 10001 -g 10001 -m 700 /data
# Without MALLOC_ARENA_MAX, glibc creates an arena of memory for each thread, which wastes 15 MB for each service.
ENV NODE_ENV=production MALLOC_ARENA_MAX=2 Monitor__Folder=/data
USER 10001:10001
WORKDIR /app/${SERVICE}

FROM base AS setup
USER root
RUN install -d -o 10001 -g 10001 /certificates
USER 10001:10001
ENTRYPOINT ["node", "src/setup.ts", "/certificates"]

FROM base AS service
# Listens on all addresses. The port is $PORT if a platform sets it, otherwise the port in appsettings.json.
ENV Web__Host=0.0.0.0
# These heap limits equal those in packages/stack/src/processes/process/spec.ts.
ENTRYPOINT ["node", "--max-semi-space-size=16", "--initial-heap-size=96", "--max-old-space-size=1024", "src/main.ts"]

FROM daprio/daprd:1.18.2 AS sidecar

FROM service AS release
COPY --from=sidecar /daprd /usr/local/bin/daprd
COPY --from=sidecar /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY components /app/components
COPY packages/stack/templates/release-image /app/release-image
# Trusts one proxy: the platform's router, which adds the caller's address to X-Forwarded-For.
ENV Web__Proxies=1
# The size above which the sidecar collects garbage more often (docs/performance.md).
ENV GOMEMLIMIT=256MiB
ENTRYPOINT ["/app/release-image/start"]

# The default target.
FROM service
