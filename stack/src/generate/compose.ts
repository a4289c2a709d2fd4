import { podOf } from '../containers/replicas.ts'
import { variableOf } from '../containers/variables.ts'
import { brokerSettings, brokerVariable } from '../kafka/broker-settings.ts'
import { serviceImage } from '../lib/image-names.ts'
import { defaultPorts } from '../lib/ports.ts'
import { entryOf, type Service, services } from '../lib/services.ts'
import { daprdFlags, resourcesOf } from '../processes/daprd-flags.ts'

/**
 * docker-compose.yml with its generated parts written anew: what stands between `# from NAME` and `# to here`. All else in it is
 * written by hand.
 */
export function composeFile(text: string): string {
  return replacePart(
    replacePart(text, 'stack/src/kafka/broker-settings.ts', brokerPart()),
    'services.json',
    services.map(servicePart).join(''),
  )
}

function replacePart(text: string, source: string, content: string): string {
  const begin = text.indexOf(`# from ${source}`)
  const from = text.indexOf('\n', begin) + 1
  const to = text.lastIndexOf('\n', text.indexOf('# to here', from)) + 1
  if (begin < 0 || to <= 0)
    throw new Error(`docker-compose.yml has no part "# from ${source}" that ends with "# to here"`)
  return text.slice(0, from) + content + text.slice(to)
}

function brokerPart(): string {
  return Object.entries(brokerSettings)
    .map(([setting, value]) => `      ${brokerVariable(setting)}: ${value === false ? '"false"' : value}\n`)
    .join('')
}

function servicePart(service: Service): string {
  const { name, role, http, https } = service
  const [pod, sidecar] = podOf(service)
  const secret = (what: 'APP_TOKEN' | 'DAPR_TOKEN') => `\${${variableOf(service, what)}:?is not set; see .env.example}`
  const published = `\${${variableOf(service, 'HTTP_PORT')}:-${http}}:${http}`
  const publishedTls = `\${${variableOf(service, 'HTTPS_PORT')}:-${https}}:${https}`
  return `
  ${pod}:
    <<: *pod
    image: ${serviceImage(name)}
    ports:
      - 127.0.0.1:${published}
      - 127.0.0.1:${publishedTls}

  ${sidecar}:
    <<: *sidecar
    network_mode: service:${pod}
    depends_on:
      ${pod}: { condition: service_started, restart: true }
      setup: { condition: service_completed_successfully }
    environment:
      <<: *component-settings
      APP_API_TOKEN: &${role}-app-token ${secret('APP_TOKEN')}
      DAPR_API_TOKEN: &${role}-dapr-token ${secret('DAPR_TOKEN')}
    command:
${sidecarCommand(name, 'mongodb')}
  ${name}:
    <<: *service
    image: ${serviceImage(name)}
    build: { context: ., target: service, args: { SERVICE: ${name} } }
    network_mode: service:${pod}
    depends_on:
      ${pod}: { condition: service_started, restart: true }
      ${sidecar}: { condition: service_started }
    environment:
      <<: [*stream-settings, *auth-settings]
      APP_API_TOKEN: *${role}-app-token
      DAPR_API_TOKEN: *${role}-dapr-token
      Web__CertificateFile: /certificates/localhost.crt
      Web__KeyFile: /certificates/localhost.key
    healthcheck:
      # Ready: its sidecar, the store behind it and Kafka answer, and its consumer group consumes.
      # By bash: to start Node every other second would cost a tenth of a core.
      test: [CMD, bash, -c, "exec 3<>/dev/tcp/127.0.0.1/${http} && printf 'GET /readyz HTTP/1.0\\r\\n\\r\\n' >&3 && read -r _ status _ <&3 && [ $$status = 200 ]"]
      <<: *probe
`
}

/** The lines of a sidecar's command. */
export function sidecarCommand(name: string, store: 'mongodb' | 'postgresql'): string {
  const flags = daprdFlags(name, entryOf(defaultPorts.services, name), resourcesOf('/components', store))
  return ['      - /daprd\n', ...flags.map(([flag, value]) => `      - --${flag}=${value}\n`)].join('')
}
