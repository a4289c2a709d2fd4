import { join } from 'node:path'
import { portUses, requireFreePorts } from '../../application/free-ports.ts'
import { programFile, repository } from '../../application/paths.ts'
import type { StackPorts } from '../../application/services.ts'
import { replaceFile } from '../../base/files.ts'
import { localConfig, localJaeger } from '../../observe/config.ts'
import type { ProvisionOptions } from '../../provision/build.ts'
import { jaegerFile, jaegerTool, prometheusFolder, prometheusTool } from '../../provision/programs.ts'
import { provisionTools } from '../../provision/provision.ts'
import { dataFolder, jaeger, kafkaOf, serversOf } from '../plan.ts'
import { type ProcessSpec, processState, startProcess } from '../process/control.ts'
import { waitUntil } from '../process/wait.ts'

/** Starts Jaeger, which receives traces with OTLP over HTTP and keeps them in memory. */
export async function startJaeger(folder: string, ports: StackPorts, options: ProvisionOptions): Promise<void> {
  await provisionTools([jaegerTool()], options)
  const file = join(dataFolder(folder), 'jaeger.yml')
  replaceFile(file, localJaeger(ports))
  const spec = {
    name: jaeger,
    command: jaegerFile(),
    args: [`--config=file:${file}`],
    env: {},
    ports: { otlp: ports.otlp, page: ports.jaeger },
  }
  await startBeside(folder, [{ spec, url: `http://127.0.0.1:${ports.jaeger}/api/services` }], options)
}

interface PrometheusOptions extends ProvisionOptions {
  seconds?: number
  rules?: string
}

const usualRules = join(repository, 'components/observe/alerts.yml')

export async function startPrometheus(folder: string, ports: StackPorts, options: PrometheusOptions): Promise<void> {
  const { rules = usualRules, seconds } = options
  await provisionTools([prometheusTool()], options)
  const data = join(dataFolder(folder), 'prometheus')
  const config = join(data, 'prometheus.yml')
  replaceFile(config, localConfig(ports, rules, seconds))
  const observers = [
    { spec: exporterSpec(folder, ports), url: `http://127.0.0.1:${ports.exporter}/` },
    { spec: prometheusSpec(ports, config, data), url: `http://127.0.0.1:${ports.prometheus}/-/ready` },
  ]
  await startBeside(folder, observers, options)
}

function exporterSpec(folder: string, ports: StackPorts): ProcessSpec {
  const { exporter } = ports
  return {
    name: 'exporter',
    command: process.execPath,
    args: [programFile('#exporter'), '127.0.0.1', String(exporter)],
    env: { Stream__Brokers: kafkaOf({ ports, ...serversOf(folder) }).bootstrapBrokers.join() },
    ports: { http: exporter },
  }
}

function prometheusSpec({ prometheus }: StackPorts, config: string, data: string): ProcessSpec {
  return {
    name: 'prometheus',
    // Prometheus looks for its pages in the current folder.
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

const timeoutMs = 60_000

/**
 * Starts programs next to a stack, and waits until all answer. `stopStack` stops them; data stays.
 * @param observers programs, each with an address that answers after the start
 * @throws {CliError} `port-in-use`, `process-died`, `not-ready`, `interrupted`
 */
async function startBeside(
  folder: string,
  observers: readonly { spec: ProcessSpec; url: string }[],
  { onProgress, signal }: ProvisionOptions,
): Promise<void> {
  const absent = observers.map(({ spec }) => spec).filter(({ name }) => processState(folder, name).state !== 'running')
  await requireFreePorts(absent.flatMap(portUses))
  for (const spec of absent) {
    startProcess(folder, spec)
    onProgress(`${spec.name}: starting`)
  }
  const ready = observers.map(async ({ spec: { name }, url }) => {
    await waitUntil(name, { folder, processes: [name], timeoutMs, signal }, () => silence(url))
    if (absent.some((spec) => spec.name === name)) onProgress(`${name}: ready`)
  })
  await Promise.all(ready)
}

/** Returns the reason why a server does not answer. A status of 500 or above is no answer. */
async function silence(url: string): Promise<string | undefined> {
  const answer = await fetch(url).catch((error: Error) => error)
  return answer instanceof Error || answer.status >= 500 ? `${url} does not answer yet` : undefined
}
