import { StackError } from '../lib/error.ts'
import { innerPorts, type ServicePorts } from '../lib/ports.ts'
import { services } from '../lib/services.ts'

/** What a new service's settings name. */
export type NewPorts = Pick<ServicePorts, 'http' | 'https' | 'channel' | 'metrics' | 'daprHttp' | 'daprGrpc'>

/** The ports of one service more: the first pair that nobody has. */
export function nextPorts(): NewPorts {
  const taken = new Set(services.flatMap((service) => [service.http, service.https]))
  let http = 5000
  while (taken.has(http) || taken.has(http + 1)) http += 2
  return { http, https: http + 1, channel: 5100 + (http - 5000), ...innerPorts(services.length) }
}

/**
 * services.json with an entry for a new service, behind the others. As text: nobody's layout is changed.
 * @throws {StackError} `usage` when the file does not end as expected
 */
export function withService(
  registry: string,
  name: string,
  { http, https, channel, topic }: NewPorts & { topic: string },
): string {
  const entry = `    "${name}": {
      "http": ${http},
      "https": ${https},
      "channel": ${channel},
      "replicas": 1,
      "consumes": { "${topic}": "prompt" },
      "produces": {}
    }`
  const end = /\n {4}\}(?=\n {2}\}\n\}\s*$)/
  const text = registry.replace(end, (last) => `${last},\n${entry}`)
  if (text !== registry) return text
  throw new StackError('usage', 'services.json does not end as make -C tools format leaves it', {
    nextStep: 'make -C tools format',
  })
}
