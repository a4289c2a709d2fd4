import { services, sidecarOf } from '../application/services.ts'
import { runInTerminal } from '../base/run-tool.ts'
import { type LogOptions, logLines } from '../base/terminal.ts'
import { kubectlOptions, releaseSelector, requireRecord } from './cluster.ts'

export const logNames = async (): Promise<string[]> => [
  ...services.flatMap((service) => [service.name, sidecarOf(service)]),
  'setup',
]

export async function logs(names: readonly string[], { follow }: LogOptions): Promise<void> {
  const cluster = requireRecord()
  const [name = ''] = names
  const service = services.find((each) => each.name === name || sidecarOf(each) === name)
  const ofOne = service
    ? [
        `${releaseSelector},app.kubernetes.io/name=${service.name}`,
        '--container',
        service.name === name ? name : 'daprd',
      ]
    : [`${releaseSelector},app.kubernetes.io/name=${name}`, '--all-containers']
  const selector = names.length === 1 ? ofOne : [releaseSelector, '--all-containers']
  // By default kubectl follows only five containers.
  const options = ['--prefix', '--tail', String(logLines), '--max-log-requests', '200', '--ignore-errors']
  const args = [
    ...kubectlOptions(cluster),
    'logs',
    '--selector',
    ...selector,
    ...options,
    ...(follow ? ['--follow'] : []),
  ]
  runInTerminal('kubectl', args)
}
