import { applicationName, versions } from './paths.ts'

/** The external images. A test compares them with docker-compose.yml, Dockerfile and Testcontainers. */
export const images = {
  base: 'debian:bookworm-slim',
  node: `node:${versions.node}-bookworm-slim`,
  kafka: `apache/kafka:${versions.kafka}`,
  mongo: 'mongo:8',
  postgresql: 'postgres:17',
  daprd: `daprio/daprd:${versions.dapr}`,
  /** The same sources as `versions.jaeger`, because v1.76.0 and v2.13.0 are one release (CHANGELOG.md of Jaeger). */
  jaeger: 'jaegertracing/jaeger:2.13.0',
  prometheus: `prom/prometheus:v${versions.prometheus.replace(/^0\.(\d)(\d\d)\./, '$1.$2.')}`,
  grafana: `grafana/grafana:${versions.grafana}`,
  reaper: `testcontainers/ryuk:${versions.ryuk}`,
} as const

/** Returns the name of the image of a service or of setup. The registry in this name is invented, so Docker cannot pull the image. */
export const serviceImage = (name: string): string => `localhost/${applicationName}-${name}`

const storeImages = { mongodb: images.mongo, postgresql: images.postgresql }

export type ComposeStore = keyof typeof storeImages

const commonImages: string[] = [images.base, images.node, images.kafka, images.daprd]

export const stackImages = (store: ComposeStore = 'mongodb'): string[] => [...commonImages, storeImages[store]]

export const everyStackImage: readonly string[] = [...commonImages, ...Object.values(storeImages)]

export const testImages: string[] = [...everyStackImage, images.reaper]
