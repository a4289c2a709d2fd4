import { grafanaImage, jaegerImage, prometheusImage } from '../lib/images.ts'
import type { ProvisionOptions } from '../provision/build.ts'
import { docker } from './docker.ts'
import { ensureImages } from './images.ts'
import { recordObservers } from './project.ts'
import { pull } from './pull.ts'

/**
 * Brings what watches the containers, and has Compose start it with them from now on, until `make down`: Jaeger, Prometheus, the exporter, and
 * Grafana where its image is at hand or can be pulled, for there is no other way to it.
 */
export async function addObservers(options: ProvisionOptions): Promise<void> {
  for (const { name, standIn } of await ensureImages(options, [jaegerImage, prometheusImage])) {
    if (standIn) options.onProgress(`warning: ${name} is a stand-in: ${standIn}`)
  }
  const withoutGrafana = (await isHere(grafanaImage)) ? undefined : await pull(grafanaImage, options)
  if (withoutGrafana) options.onProgress(`without Grafana, whose image cannot be pulled: ${withoutGrafana}`)
  recordObservers(withoutGrafana ? ['observe'] : ['observe', 'grafana'])
}

const isHere = (image: string) =>
  docker('image', 'inspect', image).then(
    () => true,
    () => false,
  )
