import type { Application } from '@orderflow/service-kit/application'
import type { KafkaConnection } from '@orderflow/service-kit/kafka'
import { table } from '@orderflow/service-kit/terminal'
import { userTroubles } from '../kafka/access.ts'
import { watchUrl } from '../kafka/connection.ts'
import { type TopicSpec, topicDifferences, topics } from '../kafka/topics.ts'
import { transactionsWarning } from '../kafka/transactions.ts'
import { CliError } from '../lib/error.ts'
import { jaegerUrl } from '../lib/jaeger.ts'
import { recordOffset } from '../lib/ports.ts'
import { application, serviceNamed, services } from '../lib/services.ts'
import { paint, print, timed } from '../lib/terminal.ts'
import { processRunner } from '../processes/runner.ts'
import type { KafkaOptions, ProgressOptions, Reached, Readiness, Runner, ServiceProbe } from '../runner.ts'
import { ensureApiKeys } from './api-key.ts'
import {
  activeRunner,
  chooseBrokers,
  chooseRunner,
  chooseStore,
  cleanAll,
  currentRunner,
  requireStore,
  runningRunner,
  stopAll,
} from './runners.ts'

interface UpRequest {
  /** True to rebuild all stores from the log before services start. */
  rebuild: boolean
  signal: AbortSignal
}

export async function up(env: NodeJS.ProcessEnv, { rebuild, signal }: UpRequest): Promise<void> {
  const reached = await start(env, { observed: false, rebuild, signal })
  const rows = Object.entries(reached.services).map(([name, { url, httpsUrl }]) => {
    return [name, `${url}/`, ...(httpsUrl ? [`${httpsUrl}/`] : [])]
  })
  for (const line of table(rows)) print(line)
  print()
  print(`see what happens: ${watchUrl(reached)}/`)
  print(`next: ${nextCommand(application)}`)
}

export const nextCommand = ({ demo }: Pick<Application, 'demo'>): string => (demo ? 'make demo' : 'make status')

/** Runs `make observe`. Restarts services and sidecars that run without traces. */
export async function observe(env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<void> {
  const { observers } = await start(env, { observed: true, rebuild: false, signal })
  const prometheus = `http://localhost:${observers.prometheus}`
  const pages = [
    ['traces', `${jaegerUrl(observers)}/`],
    ['metrics', `${prometheus}/query`],
    ['alerts', `${prometheus}/alerts`],
    ['scrape targets', `${prometheus}/targets`],
    ...(observers.grafana ? [['dashboard', `http://localhost:${observers.grafana}/d/orderflow`]] : []),
  ]
  for (const line of table(pages)) print(line)
  print()
  print(`next: ${nextCommand(application)}, and docs/observability.md`)
}

async function start(
  env: NodeJS.ProcessEnv,
  { observed, rebuild, signal }: UpRequest & { observed: boolean },
): Promise<Reached> {
  const onProgress = timed()
  const options = { onProgress, signal }
  const { runner, servers, needsRebuild } = await chooseServers(env, options)
  const reached = await runner.up({ ...servers, observed, rebuild: rebuild || needsRebuild, ...options })
  onProgress(paint('green', observed ? 'observed' : 'up'))
  print()
  return reached
}

/** Returns the runner, the store and the number of brokers that the variables select. */
export async function chooseServers(
  env: NodeJS.ProcessEnv,
  options: ProgressOptions,
): Promise<{ runner: Runner; servers: Pick<KafkaOptions, 'store' | 'brokers'>; needsRebuild: boolean }> {
  if (env.STORE) requireStore(env.STORE)
  const runner = await chooseRunner(env, options)
  // Creates the file of keys and its folder now. Otherwise a Docker engine would create the folder as root.
  ensureApiKeys()
  const brokers = await chooseBrokers(runner, env.BROKERS)
  const { store, needsRebuild } = await chooseStore(runner, env.STORE, options.onProgress)
  if (runner === processRunner) recordOffset(env, (await runner.state()) === 'running')
  return { runner, servers: { store, brokers }, needsRebuild }
}

export async function down(): Promise<void> {
  print((await stopAll(timed())) ? 'down' : 'nothing was running')
}

/** Runs `make status`. Returns exit code 1 if a part of a started stack has failed. */
export async function status(): Promise<number> {
  const runner = await currentRunner()
  const { lines, unwell, nextStep } = await runner.status()
  for (const { text, colour } of lines) print(paint(colour, text))
  if (unwell === undefined) {
    print('stopped; `make up` starts it')
    return 0
  }
  const ofServices = await troublesOf(await runner.runningServices())
  // Not at the same time: in Kubernetes this starts a pod, which could slow down the answers of services on a small machine.
  const ofStream = runner.inside?.streamTroubles() ?? streamTroubles(runner.reach().kafka, topics[runner.surroundings])
  const troubles = [...ofServices, ...(await ofStream)]
  if (troubles.length > 0) print()
  for (const trouble of troubles) print(paint('red', trouble))
  if (unwell.length === 0) return troubles.length > 0 ? 1 : 0
  print(`\n${paint('red', 'some parts have failed')}: ${unwell.join(', ')}`)
  print(`next: ${nextStep}`)
  return 1
}

/** Returns a line for each missing part of a service, and for each record that the service cannot handle. */
export async function troublesOf(running: readonly ServiceProbe[]): Promise<string[]> {
  const all = await Promise.all(
    running.map(async ({ name, ask }) => {
      const ready = await ask().catch(() => undefined)
      return ready ? linesOf(name, ready) : [`${name} does not answer`]
    }),
  )
  return all.flat()
}

function linesOf(name: string, { missing = {}, redelivered = [] }: Readiness): string[] {
  return [
    ...Object.entries(missing).map(([part, why]) => `${name} is not ready: ${part}: ${why}`),
    ...redelivered.map(
      ({ topic, partition, offset, deliveries }) =>
        `${name} cannot handle ${topic}/${partition}/${offset}: delivered ${deliveries} times (make logs SERVICE=${name})`,
    ),
  ]
}

/**
 * Returns a line for each wrong setting of Kafka. The list is empty if Kafka does not answer.
 * @param hasUsers true if the stack creates users in this Kafka
 */
export async function streamTroubles(
  kafka: KafkaConnection,
  specs: TopicSpec[],
  hasUsers = kafka.sasl !== undefined,
): Promise<string[]> {
  const checks = [
    ...(hasUsers ? [userTroubles(kafka)] : []),
    topicDifferences(kafka, specs),
    transactionsWarning(kafka).then((warning) => (warning ? [warning] : [])),
  ]
  return (await Promise.all(checks.map((check) => check.catch(() => [])))).flat()
}

/**
 * Runs `make logs`. On a terminal it follows the logs of a running stack.
 * @param shouldFollow true to follow even without a terminal, false to show only the end
 */
export async function logs(
  name: string | undefined,
  shouldFollow: boolean | undefined,
  signal: AbortSignal,
): Promise<void> {
  const runner = await currentRunner()
  const names = await runner.logNames()
  if (name && !names.includes(name)) {
    throw new CliError('usage', `unknown log ${name}`, { nextStep: `SERVICE is one of ${names.join(', ')}` })
  }
  const follow = shouldFollow ?? (process.stdout.isTTY && (await runner.state()) === 'running')
  await runner.logs(name ? [name] : names, { follow, signal })
}

/** Runs `./orderflow clean`. Keeps the certificate and the secrets. */
export async function clean(): Promise<void> {
  const removed = await cleanAll(timed())
  for (const each of removed) print(`removed ${each}`)
  if (removed.length === 0) print('nothing to remove')
}

/** @throws {CliError} `usage` for an unknown service, `not-running` if the stack is stopped */
export async function restart(name: string | undefined, signal: AbortSignal): Promise<void> {
  const service = serviceNamed(name)
  const runner = await activeRunner()
  await runner.restart(service, { onProgress: timed(), signal })
}

/** @throws {CliError} `usage` for an unknown service or an invalid number, `not-running` for processes and a stopped stack */
export async function scale(service: string, times: string, signal: AbortSignal): Promise<void> {
  const runner = await runningRunner()
  if (!runner?.scale) {
    throw new CliError('not-running', 'replicas need a stack in containers or in Kubernetes, which is not running', {
      nextStep: 'make up STACK=docker or STACK=kubernetes',
    })
  }
  const count = /^[1-9]\d?$/.test(times) ? Number(times) : undefined
  const names = services.map(({ name }) => name)
  if (!names.includes(service) || !count) {
    throw new CliError('usage', `scale ${service} ${times}: SERVICE is ${names.join(' or ')}, N is 1 to 99`, {
      nextStep: `./orderflow scale ${names.at(-1)} 3`,
    })
  }
  await runner.scale(service, count, { onProgress: timed(), signal })
}
