import { ensureApiKeys } from './api-keys.ts'
import { localFolder } from './application/paths.ts'
import { recordOffset } from './application/services.ts'
import { readStack } from './application/stack-record.ts'
import { CliError } from './base/error.ts'
import { inContainers } from './containers/in-containers.ts'
import { asProcesses } from './processes/as-processes.ts'
import type { KafkaOptions, ProgressOptions, Reached, Runner, Store, UpOptions } from './runner.ts'
import { runners, runningRunner } from './runners.ts'

/** Starts the stack that the variables `STACK`, `STORE` and `BROKERS` select. */
export async function startChosen(
  env: NodeJS.ProcessEnv,
  { rebuild, ...options }: Pick<UpOptions, 'observed' | 'rebuild' | keyof ProgressOptions>,
): Promise<Reached> {
  const { runner, servers, needsRebuild } = await chooseServers(env, options)
  return await runner.up({ ...servers, ...options, rebuild: rebuild || needsRebuild })
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
  if (runner === asProcesses) recordOffset(env, (await runner.state()) === 'running')
  return { runner, servers: { store, brokers }, needsRebuild }
}

/**
 * Returns the runner that `STACK` names. If `STACK` is not set, returns the runner whose stack is running. If none is running, returns the runner of
 * the last start, otherwise the preferred runner that this machine supports.
 * @throws {CliError} `usage` for an unknown name, `still-running` if the stack of another runner is running
 */
async function chooseRunner({ STACK, STORE }: NodeJS.ProcessEnv, options: ProgressOptions): Promise<Runner> {
  const named = namedRunner(STACK)
  const running = await runningRunner()
  if (named && running && named !== running) {
    throw new CliError('still-running', `the stack already runs (STACK=${running.name})`, {
      nextStep: `make down, then make up STACK=${named.name}`,
    })
  }
  return named ?? running ?? lastRunner(STORE, options) ?? (await preferredRunner(STORE, options))
}

/** Returns the runner of the last start, which has the data, if it supports the store. */
function lastRunner(store: string | undefined, { onProgress }: ProgressOptions): Runner | undefined {
  const { runner } = readStack(localFolder)
  const last = runners.find(({ name, stores }) => name === runner && (!store || stores.some((each) => each === store)))
  if (last) onProgress(`${last.title}, as at the last start`)
  return last
}

/**
 * Returns the runner that `STACK` names. If `STACK` is not set, returns the preferred runner that this machine supports. Ignores running stacks.
 * @throws {CliError} `usage` for an unknown name
 */
export async function supportedRunner({ STACK, STORE }: NodeJS.ProcessEnv, options: ProgressOptions): Promise<Runner> {
  return namedRunner(STACK) ?? (await preferredRunner(STORE, options))
}

function namedRunner(asked: string | undefined): Runner | undefined {
  const named = runners.find(({ name }) => name === asked)
  if (!asked || named) return named
  throw new CliError('usage', `STACK=${asked} is not supported`, {
    nextStep: `set STACK to ${runners.map(({ name }) => name).join(' or ')}, or leave it out`,
  })
}

/** Returns the runner of containers if this machine supports it. A cluster may belong to others, so it must be named. */
async function preferredRunner(store: string | undefined, options: ProgressOptions): Promise<Runner> {
  const missing = await inContainers.missing(options, store)
  if (missing === undefined) {
    options.onProgress(`${inContainers.title}; STACK=${asProcesses.name} runs the stack ${asProcesses.title}`)
    return inContainers
  }
  options.onProgress(`not ${inContainers.title}: ${missing}`)
  options.onProgress(asProcesses.title)
  return asProcesses
}

/**
 * Returns the store that `STORE` names. The default is the store of the last start. `needsRebuild` is true if another store has the data of the last start.
 * @throws {CliError} `usage` for an unsupported store, `still-running` if the stack runs with another store
 */
async function chooseStore(
  runner: Runner,
  asked: string | undefined,
  onProgress: (line: string) => void,
): Promise<{ store: Store; needsRebuild: boolean }> {
  const last = runner.lastStore()
  const store = asked ? requireStore(asked, runner) : last
  if (store === last) return { store, needsRebuild: false }
  if (await runningRunner()) {
    throw new CliError('still-running', `the stack already runs (STORE=${last})`, {
      nextStep: `make down, then make up STORE=${store}`,
    })
  }
  const kept = await runner.dataOf(last)
  if (kept) {
    onProgress(`store: ${store}; the data of ${last} stays in ${kept}, and make up STORE=${last} continues with it`)
    onProgress(`store: ${store} is rebuilt from the log, because it lacks earlier events`)
  }
  return { store, needsRebuild: kept !== undefined }
}

/**
 * Returns the number of brokers that `BROKERS` names. The default is that of the last start.
 * @throws {CliError} `usage` for an unsupported number, and if Kafka has data of another number of brokers
 */
export async function chooseBrokers(
  { title, brokerCounts, lastBrokers }: Pick<Runner, 'title' | 'brokerCounts' | 'lastBrokers'>,
  asked: string | undefined,
): Promise<number> {
  const last = await lastBrokers()
  if (!asked) return last ?? brokerCounts[0] ?? 0
  const count = brokerCounts.find((each) => String(each) === asked)
  if (!count) {
    throw new CliError('usage', `BROKERS=${asked} is not supported ${title}`, {
      nextStep:
        brokerCounts.length > 0
          ? `set BROKERS to ${brokerCounts.join(' or ')}, or leave it out`
          : 'leave BROKERS out, because this stack uses a Kafka of others',
    })
  }
  if (last === undefined || last === count) return count
  throw new CliError('usage', `BROKERS=${asked}, but the data of Kafka is from BROKERS=${last}`, {
    nextStep: `leave BROKERS out to continue with this data, or remove it (make down, then ./orderflow clean)`,
  })
}

/** @throws {CliError} `usage` for an unsupported store */
export function requireStore(asked: string, runner?: Runner): Store {
  const store = (runner ? [runner] : runners).flatMap(({ stores }) => stores).find((each) => each === asked)
  if (store) return store
  const how = ({ title, name }: Runner) => `${title} (STACK=${name})`
  const supported = runners.map((each) => `${each.stores.join(' or ')} ${how(each)}`)
  throw new CliError('usage', `STORE=${asked} is not supported${runner ? ` ${how(runner)}` : ''}`, {
    nextStep: `set STORE to ${supported.join(', ')}, or leave it out`,
  })
}
