import { portUses, requireFreePorts } from '../lib/free-ports.ts'
import { startProcess } from '../processes/process-control.ts'
import type { ProcessSpec } from '../processes/process-spec.ts'
import { processState } from '../processes/run-record.ts'
import { waitUntil } from '../processes/wait.ts'
import type { ProvisionOptions } from '../provision/options.ts'

const timeoutMs = 60_000

/**
 * Starts programs beside the stack of processes in this folder, and waits until all of them answer; those that run stay. They end with
 * the stack (`stopStack`), and their data stays.
 * @param observers each with an address that answers once it is ready
 * @throws {StackError} `port-in-use`, `process-died`, `not-ready`, `interrupted`
 */
export async function startBeside(
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

/** Why nobody answers there; undefined when somebody does, if only that there is nothing at this path. */
async function silence(url: string): Promise<string | undefined> {
  const answer = await fetch(url).catch((error: Error) => error)
  return answer instanceof Error || answer.status >= 500 ? `${url} does not answer yet` : undefined
}
