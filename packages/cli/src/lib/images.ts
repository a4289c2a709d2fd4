import { versions } from './paths.ts'

// The external images. A test compares them with docker-compose.yml, Dockerfile and Testcontainers.
export const baseImage = 'debian:bookworm-slim'
export const nodeImage = `node:${versions.node}-bookworm-slim`
export const kafkaImage = `apache/kafka:${versions.kafka}`
export const mongoImage = 'mongo:8'
export const postgresqlImage = 'postgres:17'
export const daprdImage = `daprio/daprd:${versions.dapr}`
/** The image of the release that `versions.jaeger` is built from: the sources of v1.76.0 are also those of v2.13.0 (CHANGELOG.md of Jaeger). */
export const jaegerImage = 'jaegertracing/jaeger:2.13.0'
export const prometheusImage = `prom/prometheus:v${versions.prometheus.replace(/^0\.(\d)(\d\d)\./, '$1.$2.')}`
export const grafanaImage = `grafana/grafana:${versions.grafana}`
export const reaperImage = `testcontainers/ryuk:${versions.ryuk}`

/**
 * Returns the name of an image that docker-compose.yml builds: of a service, or `stack` for setup. The registry in the name is imaginary, which
 * prevents pulls.
 */
export function serviceImage(name: string): string {
  return `localhost/orderflow-${name}`
}

const storeImages = { mongodb: mongoImage, postgresql: postgresqlImage }

export type ComposeStore = keyof typeof storeImages

const commonImages = [baseImage, nodeImage, kafkaImage, daprdImage]

/** Returns the images that Compose runs with a store, and the base images of the services. Each follows its own base images. */
export function stackImages(store: ComposeStore = 'mongodb'): string[] {
  return [...commonImages, storeImages[store]]
}

export const everyStackImage = [...commonImages, ...Object.values(storeImages)]

/** The images of the observers. Grafana's image cannot be built here. */
export const observerImages = [jaegerImage, prometheusImage, grafanaImage]

/** The images of the stack and of Testcontainers' reaper. */
export const testImages = [...everyStackImage, reaperImage]
