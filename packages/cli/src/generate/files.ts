import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { postgresqlFile } from '../containers/project.ts'
import { repository } from '../lib/paths.ts'
import { doesConsume, services } from '../lib/services.ts'
import { containersJaeger } from '../observe/jaeger-config.ts'
import { containersConfig } from '../observe/prometheus-config.ts'
import { applicationCopy } from './application-copy.ts'
import { bootCheckFile } from './boot-check.ts'
import { composeFile } from './compose.ts'
import { composePostgresqlFile } from './compose-postgresql.ts'
import { asyncApiFile, bundledSchemas, topicConstants, topicsFile } from './contract.ts'
import { devcontainerFile } from './devcontainer.ts'
import { kafkaFile } from './kafka.ts'
import { alertsFile, dashboardFile } from './objective.ts'
import { publishersFile } from './publishers.ts'
import { resiliencyFile } from './resiliency.ts'
import { settingsFile } from './settings.ts'
import { subscriptionsFile } from './subscriptions.ts'

/** What `make generate` writes, from services.json and of the contract from its schemas, by the path in the repository. Undefined is for a file that should be gone. */
export function generatedFiles(): Map<string, string | undefined> {
  const changed = (path: string, change: (text: string) => string) =>
    [path, change(readFileSync(join(repository, path), 'utf8'))] as const
  const found = readdirSync(join(repository, 'components')).filter((file) => /^subscriptions\..*yaml$/.test(file))
  return new Map([
    ...found.map((file) => [`components/${file}`, undefined] as const),
    ...services
      .filter(doesConsume)
      .map((service) => [`components/subscriptions.${service.name}.yaml`, subscriptionsFile(service)] as const),
    ['components/kafka.yaml', kafkaFile()],
    ['components/trust/publishers.json', publishersFile()],
    ...services
      .filter(({ folder }) => folder.startsWith('packages/'))
      .map(({ folder }) => [`${folder}/services.json`, applicationCopy()] as const),
    ['components/resiliency.yaml', resiliencyFile()],
    ['envelope-schema/asyncapi.json', asyncApiFile()],
    ['envelope-schema/topics.gen.ts', topicConstants()],
    ['envelope-schema/topics.json', topicsFile()],
    ...bundledSchemas(),
    changed('docker-compose.yml', composeFile),
    [postgresqlFile, composePostgresqlFile()],
    ['packages/cli/observe/jaeger.yml', containersJaeger()],
    ['packages/cli/observe/prometheus.yml', containersConfig()],
    changed('packages/cli/observe/alerts.yml', alertsFile),
    changed('packages/cli/observe/dashboard.json', dashboardFile),
    changed('.devcontainer/devcontainer.json', devcontainerFile),
    ['packages/cli/release-image/boot-check/kafka.yaml', bootCheckFile()],
    ...[...services.map(({ folder }) => folder), 'packages/cli/src/new-service/template'].map((folder) =>
      changed(`${folder}/appsettings.json`, settingsFile),
    ),
  ])
}
