import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { localKafka } from '../kafka/connection.ts'
import { replaceFile } from '../lib/files.ts'
import { repository } from '../lib/paths.ts'
import type { StackPorts } from '../lib/ports.ts'
import { dataFolder } from '../processes/plan.ts'
import type { ProcessSpec } from '../processes/process-spec.ts'
import type { ProvisionOptions } from '../provision/options.ts'
import { prometheusFolder, prometheusTool } from '../provision/prometheus.ts'
import { provisionTools } from '../provision/provision.ts'
import { startBeside } from './beside.ts'
import { localConfig } from './prometheus-config.ts'

/** What is written down for Prometheus: seconds between scrapes, and rule files, when they are not the usual ones. */
export interface PrometheusOptions extends ProvisionOptions {
  seconds?: number
  rules?: string
}

const usualRules = join(repository, 'packages/cli/observe/alerts.yml')

/**
 * Makes sure that Prometheus and the exporter run beside a stack of processes.
 * @throws {StackError} `tools-missing`, `provision-failed`, and as `startBeside` does
 */
export async function startPrometheus(folder: string, ports: StackPorts, options: PrometheusOptions): Promise<void> {
  const { rules = usualRules, seconds } = options
  await provisionTools([prometheusTool()], options)
  const data = join(dataFolder(folder), 'prometheus')
  mkdirSync(data, { recursive: true })
  const config = join(data, 'prometheus.yml')
  replaceFile(config, localConfig(ports, rules, seconds))
  const observers = [
    { spec: exporterSpec(ports), url: `http://127.0.0.1:${ports.exporter}/` },
    { spec: prometheusSpec(ports, config, data), url: `http://127.0.0.1:${ports.prometheus}/-/ready` },
  ]
  await startBeside(folder, observers, options)
}

function exporterSpec({ kafka, exporter }: StackPorts): ProcessSpec {
  return {
    name: 'exporter',
    command: process.execPath,
    args: [join(repository, 'packages/cli/src/observe/exporter.ts'), '127.0.0.1', String(exporter)],
    env: { Stream__Brokers: localKafka(kafka).bootstrapBrokers.join() },
    ports: { http: exporter },
  }
}

function prometheusSpec({ prometheus }: StackPorts, config: string, data: string): ProcessSpec {
  return {
    name: 'prometheus',
    // Where it finds its pages.
    command: '/bin/sh',
    args: [
      '-c',
      'cd "$0" && exec ./prometheus "$@"',
      prometheusFolder(),
      `--config.file=${config}`,
      `--storage.tsdb.path=${data}`,
      '--storage.tsdb.retention.time=15d',
      '--storage.tsdb.retention.size=2GB',
      `--web.listen-address=127.0.0.1:${prometheus}`,
      '--log.level=warn',
    ],
    env: {},
    ports: { http: prometheus },
  }
}
