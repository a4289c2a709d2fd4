import { versions } from './paths.ts'

// The one list of images that others make. docker-compose.yml, Dockerfile and Testcontainers name the same ones, and a test
// holds them equal.
export const baseImage = 'debian:bookworm-slim'
export const nodeImage = `node:${versions.node}-bookworm-slim`
export const kafkaImage = `apache/kafka:${versions.kafka}`
export const mongoImage = 'mongo:8'
export const postgresqlImage = 'postgres:17'
export const daprdImage = `daprio/daprd:${versions.dapr}`
/**
 * Of the sources of `versions.jaeger`: the last that the Go module has are v1.76.0 and v2.13.0 at once (CHANGELOG.md of
 * Jaeger).
 */
export const jaegerImage = 'jaegertracing/jaeger:2.13.0'
export const prometheusImage = `prom/prometheus:v${versions.prometheus.replace(/^0\.(\d)(\d\d)\./, '$1.$2.')}`
export const grafanaImage = `grafana/grafana:${versions.grafana}`
export const reaperImage = `testcontainers/ryuk:${versions.ryuk}`

/**
 * The image of a service, or of `stack` for what Compose needs once, as docker-compose.yml builds it. No registry can serve it: a name
 * of Docker Hub's would be asked for there first, and whoever owned it would be given the secrets.
 */
export function serviceImage(name: string): string {
  return `localhost/orderflow-${name}`
}

/** The server of each store that a stack of containers may have. */
const storeImages = { mongodb: mongoImage, postgresql: postgresqlImage }

export type ComposeStore = keyof typeof storeImages

const commonImages = [baseImage, nodeImage, kafkaImage, daprdImage]

/**
 * Returns the images that Compose runs with a store, and those that the services are built from. Each follows those
 * that it is built from.
 */
export function stackImages(store: ComposeStore = 'mongodb'): string[] {
  return [...commonImages, storeImages[store]]
}

/** The same, with all stores. */
export const everyStackImage = [...commonImages, ...Object.values(storeImages)]

/** The images of the observers. Grafana's cannot be built here. */
export const observerImages = [jaegerImage, prometheusImage, grafanaImage]

/** The images of the system, and the one by which Testcontainers cleans up. */
export const testImages = [...everyStackImage, reaperImage]
