import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { entryOf } from '@orderflow/stack'
import { repository } from '@orderflow/stack/base'
import {
  componentSettings,
  daprdArguments,
  daprdFile,
  type ProcessSpec,
  processSpecs,
  type ServicePorts,
} from '@orderflow/stack/internals'
import type { BenchStack } from './bench-stack.ts'

const startTimeoutMs = 60_000

export function program(name: string, env: Record<string, string>): ProcessSpec {
  return { name, command: process.execPath, args: [join(repository, `tools/bench/compare/${name}.ts`)], env, ports: {} }
}

/** Returns the variables for the ports of a program and its sidecar. */
export function environmentOf({ channel, daprHttp }: ServicePorts): Record<string, string> {
  return { PORT: String(channel), DAPR_HTTP_PORT: String(daprHttp) }
}

/** Returns a sidecar with the settings of orderflow, but without tokens. */
export function sidecar({ plan, database }: BenchStack, appId: string, ports: ServicePorts): ProcessSpec {
  return {
    name: `${appId}-sidecar`,
    command: daprdFile(),
    args: daprdArguments({ name: appId, hasStore: true }, ports, 'sqlite', openComponents(plan.folder)),
    env: {
      DAPR_HOST_IP: '127.0.0.1',
      ...componentSettings(join(repository, 'order-service'), {}),
      Stream__Brokers: `127.0.0.1:${plan.ports.kafka}`,
      State__ConnectionString: database(appId),
    },
    ports: {},
  }
}

/**
 * Copies the components to a stack's folder, without scopes and limits of APIs. The scopes name only the services of orderflow, and other
 * programs use Dapr's HTTP API.
 */
function openComponents(folder: string): string {
  const copy = join(folder, 'components-of-compared-programs')
  cpSync(join(repository, 'components'), copy, { recursive: true })
  for (const file of globSync(`${copy}/**/*.yaml`, { exclude: (name) => name.startsWith('subscriptions.') })) {
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/^scopes:\n(?: {2}- .*\n)+/gm, ''))
  }
  const configuration = join(copy, 'configuration.yaml')
  writeFileSync(configuration, readFileSync(configuration, 'utf8').replace(/^ {2}api:\n(?: {4}.*\n)+/m, ''))
  return copy
}

/** Returns another payment-service with its own sidecar. Both payment-services use the same store. */
export async function paymentReplica({ plan, morePorts }: BenchStack, number: number): Promise<ProcessSpec[]> {
  const services = { ...plan.ports.services, 'payment-service': await morePorts() }
  const specs = processSpecs({ ...plan, ports: { ...plan.ports, services } })
  return ['payment-service', 'payment-sidecar'].map((name) => ({ ...entryOf(specs, name), name: `${name}-${number}` }))
}

/**
 * Starts a program of tools/bench/compare. Returns the address to post orders to.
 * @param topic the topic to publish to. The program then has a sidecar.
 */
export async function startOrders(stack: BenchStack, name: string, topic?: string): Promise<string> {
  const ports = await stack.morePorts()
  const specs = [program(name, { ...environmentOf(ports), ...(topic && { TOPIC: topic }) })]
  if (topic) specs.push(sidecar(stack, name, ports))
  const url = `http://127.0.0.1:${ports.channel}`
  const mustAnswer = [`${url}/readyz`, ...(topic ? [`http://127.0.0.1:${ports.daprHttp}/v1.0/healthz`] : [])]
  stack.launch(specs)
  await stack.wait(name, specs, () => firstSilent(mustAnswer), startTimeoutMs)
  return `${url}/v1/orders`
}

async function firstSilent(urls: string[]): Promise<string | undefined> {
  for (const url of urls) {
    const answer = await fetch(url).catch(() => undefined)
    if (!answer?.ok) return `${url} answers ${answer?.status ?? 'nothing'}`
  }
  return undefined
}
