import { containerRunner } from '../containers/runner.ts'
import { kubernetesRunner } from '../kubernetes/runner.ts'
import { CliError } from '../lib/error.ts'
import { localFolder } from '../lib/paths.ts'
import { withStackLock } from '../lib/stack-lock.ts'
import { readStack, removeStack } from '../lib/stack-record.ts'
import { processRunner } from '../processes/runner.ts'
import type { ProgressOptions, Reached, Runner, Store } from '../runner.ts'

/** The runners. Their state is read in this order, because the state of processes needs neither a Docker engine nor a cluster. */
const runners: readonly Runner[] = [processRunner, containerRunner, kubernetesRunner]

export async function runningRunner(): Promise<Runner | undefined> {
  for (const runner of runners) if ((await runner.state()) === 'running') return runner
  return undefined
}

/** Returns the runner whose stack is running. Otherwise returns a runner with stopped parts, or the runner of processes. */
export async function currentRunner(): Promise<Runner> {
  const running = await runningRunner()
  if (running) return running
  for (const runner of runners) if ((await runner.state()) === 'stopped') return runner
  return processRunner
}

/** Stops the stacks of all runners. Returns false if nothing ran. */
export async function stopAll(onProgress: (line: string) => void): Promise<boolean> {
  let isAny = false
  for (const runner of runners) isAny = (await runner.down(onProgress)) || isAny
  return isAny
}

/**
 * Removes all data. Returns the names of the removed folders and volumes.
 * @throws {CliError} `still-running` if parts of the stack remain
 */
export async function cleanAll(onProgress: (line: string) => void): Promise<string[]> {
  return await withStackLock(localFolder, onProgress, async () => {
    for (const runner of runners) {
      if ((await runner.state()) === 'absent') continue
      throw new CliError('still-running', 'the stack is running', { nextStep: 'make down, then ./orderflow clean' })
    }
    const removed = await Promise.all(runners.map((runner) => runner.clean()))
    removeStack(localFolder)
    return removed.flat()
  })
}

/** Returns the runner whose stack is running. Otherwise returns the runner of processes, which reports that nothing runs. */
export async function activeRunner(): Promise<Runner> {
  return (await runningRunner()) ?? processRunner
}

/**
 * Returns the addresses of the stack, in which all parts must run.
 * @throws {CliError} `not-running` with the names of stopped parts
 */
export async function requireRunning(): Promise<Reached> {
  const runner = await activeRunner()
  await runner.requireRunning()
  return runner.reach()
}

/**
 * Returns the addresses of the stack, in which Kafka must run. With three brokers, one or two of them may be away.
 * @throws {CliError} `not-running`
 */
export async function requireKafka(): Promise<Reached> {
  const runner = await activeRunner()
  await runner.requireKafka()
  return runner.reach()
}

/**
 * Returns the runner that `STACK` names. If `STACK` is not set, returns the runner whose stack is running. If none is running, returns the runner of
 * the last start, otherwise the preferred runner that this machine supports.
 * @throws {CliError} `usage` for an unknown name, `still-running` if the stack of another runner is running
 */
export async function chooseRunner({ STACK, STORE }: NodeJS.ProcessEnv, options: ProgressOptions): Promise<Runner> {
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
  const missing = await containerRunner.missing(options, store)
  if (missing === undefined) {
    options.onProgress(`${containerRunner.title}; STACK=${processRunner.name} runs the stack ${processRunner.title}`)
    return containerRunner
  }
  options.onProgress(`not ${containerRunner.title}: ${missing}`)
  options.onProgress(processRunner.title)
  return processRunner
}

/**
 * Returns the store that `STORE` names. The default is the store of the last start. `needsRebuild` is true if another store has the data of the last start.
 * @throws {CliError} `usage` for an unsupported store, `still-running` if the stack runs with another store
 */
export async function chooseStore(
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
