import { applicationName, versions } from './paths.ts'

// A test compares these images with docker-compose.yml, Dockerfile and Testcontainers.
export const baseImage = 'debian:bookworm-slim'
export const nodeImage = `node:${versions.node}-bookworm-slim`
export const kafkaImage = `apache/kafka:${versions.kafka}`
export const mongoImage = 'mongo:8'
export const postgresqlImage = 'postgres:17'
export const daprdImage = `daprio/daprd:${versions.dapr}`
/** Jaeger's image. It has the same sources as `versions.jaeger`, because v1.76.0 and v2.13.0 are one release (CHANGELOG.md of Jaeger). */
export const jaegerImage = 'jaegertracing/jaeger:2.13.0'
export const prometheusImage = `prom/prometheus:v${versions.prometheus.replace(/^0\.(\d)(\d\d)\./, '$1.$2.')}`
export const grafanaImage = `grafana/grafana:${versions.grafana}`
export const reaperImage = `testcontainers/ryuk:${versions.ryuk}`

/** Returns the name of the image of a service or of setup. The registry in this name is invented, so Docker cannot pull the image. */
export function serviceImage(name: string): string {
  return `localhost/${applicationName}-${name}`
}

const storeImages = { mongodb: mongoImage, postgresql: postgresqlImage }

export type ComposeStore = keyof typeof storeImages

const commonImages = [baseImage, nodeImage, kafkaImage, daprdImage]

export function stackImages(store: ComposeStore = 'mongodb'): string[] {
  return [...commonImages, storeImages[store]]
}

export const everyStackImage = [...commonImages, ...Object.values(storeImages)]

export const observerImages = [jaegerImage, prometheusImage, grafanaImage]

export const testImages = [...everyStackImage, reaperImage]
