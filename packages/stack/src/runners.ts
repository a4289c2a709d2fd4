import { localFolder } from './application/paths.ts'
import { removeStack, withStackLock } from './application/stack-record.ts'
import { CliError } from './base/error.ts'
import { inContainers } from './containers/in-containers.ts'
import { runsInKubernetes } from './kubernetes/cluster.ts'
import { inKubernetes } from './kubernetes/in-kubernetes.ts'
import { asProcesses } from './processes/as-processes.ts'
import type { Reached, Runner } from './runner.ts'

/** The runners. Their state is read in this order, because the state of processes needs neither a Docker engine nor a cluster. */
export const runners: readonly Runner[] = [asProcesses, inContainers, inKubernetes]

export async function runningRunner(): Promise<Runner | undefined> {
  for (const runner of runners) if ((await runner.state()) === 'running') return runner
  return undefined
}

/** Returns the runner of a running stack in Kubernetes. Calls no cluster unless this checkout has a stack there. */
export async function clusterRunner(): Promise<Runner | undefined> {
  return runsInKubernetes() ? await runningRunner() : undefined
}

/** Returns the runner whose stack is running. Otherwise returns a runner with stopped parts, or the runner of processes. */
export async function currentRunner(): Promise<Runner> {
  const running = await runningRunner()
  if (running) return running
  for (const runner of runners) if ((await runner.state()) === 'stopped') return runner
  return asProcesses
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
export const activeRunner = async (): Promise<Runner> => (await runningRunner()) ?? asProcesses

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
