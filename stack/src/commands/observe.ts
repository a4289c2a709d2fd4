import { table } from '@orderflow/service-kit/terminal'
import { StackError } from '../lib/error.ts'
import { localFolder } from '../lib/paths.ts'
import { localPorts } from '../lib/ports.ts'
import { services, sidecarOf } from '../lib/services.ts'
import { paint, print, timed } from '../lib/terminal.ts'
import { processState } from '../processes/run-record.ts'
import { startStack } from '../processes/start.ts'
import { stopProcesses, withStackLock } from '../processes/stop.ts'
import { jaeger, jaegerUrl } from '../processes/trace-variables.ts'
import { ensureApiKeys } from './api-key.ts'
import { runningWay } from './way.ts'

/**
 * `make observe`: starts the stack as processes, with what watches it. Services that run without it start again.
 * @throws {StackError} `still-running` when the stack runs in containers
 */
export async function observe(signal: AbortSignal): Promise<void> {
  if ((await runningWay()) === 'docker') {
    throw new StackError('still-running', 'the stack runs in containers, and is observed as processes only', {
      nextStep: 'make down, then make observe',
    })
  }
  const onProgress = timed()
  ensureApiKeys()
  if (processState(localFolder, jaeger).state !== 'running') {
    const unobserved = services.flatMap((service) => [service.name, sidecarOf(service)])
    await withStackLock(localFolder, onProgress, () => stopProcesses(localFolder, unobserved, onProgress))
  }
  await startStack({ traces: true, onProgress, signal })
  onProgress(paint('green', 'up'))
  print()
  for (const line of table([['traces', `${jaegerUrl(localPorts())}/`]])) print(line)
  print()
  print('next: make demo')
}
