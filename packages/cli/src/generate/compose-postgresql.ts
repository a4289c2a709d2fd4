import { postgresqlImage } from '../lib/images.ts'
import { defaultPorts } from '../lib/ports.ts'
import { postgresqlSettings, postgresqlUri, postgresqlUser } from '../lib/postgresql.ts'
import { type Service, sidecarOf, storedServices } from '../lib/services.ts'
import { generated } from './comment.ts'
import { sidecarCommand } from './compose.ts'

/** docker-compose.postgresql.yml */
export function composePostgresqlFile(): string {
  const settings = Object.entries(postgresqlSettings).map(([name, value]) => `, -c, ${name}=${value}`)
  return `${generated(`Beside docker-compose.yml: PostgreSQL as the store, in MongoDB's place. make up STACK=docker
STORE=postgresql has Compose read both files, and writes so into .env, for docker compose by hand.`)}
x-state: &state
  State__ConnectionString: ${postgresqlUri('postgresql', 5432, `\${POSTGRESQL_PASSWORD:?${unset}}`)}

services:
  mongo: !reset null

  postgresql:
    image: ${postgresqlImage}
    logging:
      driver: json-file
      options: { max-size: 10m, max-file: "3" }
    restart: on-failure
    stop_grace_period: 30s
    ports: ["127.0.0.1:\${POSTGRESQL_PORT:-${defaultPorts.postgresql}}:5432"]
    volumes: ["postgresql:/var/lib/postgresql/data"]
    command: [postgres${settings.join('')}]
    environment:
      POSTGRES_USER: ${postgresqlUser}
      POSTGRES_PASSWORD: \${POSTGRESQL_PASSWORD:?${unset}}
    healthcheck:
      # By TCP: a first start has a server on a socket in the file system before, which makes the user.
      test: [CMD, bash, -c, "[ -e /dev/shm/ready ] && sleep 8; pg_isready --quiet --host=127.0.0.1 && : >/dev/shm/ready"]
      interval: 2s
      timeout: 12s
      start_period: 60s
      retries: 5

  setup:
    environment: *state
    depends_on:
      mongo: !reset null
      postgresql: { condition: service_healthy }
${storedServices.map(sidecarPart).join('')}
volumes:
  mongo: !reset null
  postgresql:
`
}

const unset = 'is not set; make up STACK=docker writes it into .env'

function sidecarPart(service: Service): string {
  return `
  ${sidecarOf(service)}:
    environment: *state
    command:
${sidecarCommand(service, 'postgresql')}`
}
