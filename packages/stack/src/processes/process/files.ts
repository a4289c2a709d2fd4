import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isInstalled, repository } from '../../application/paths.ts'
import type { Service } from '../../application/services.ts'

const contract = 'envelope-schema'
/** The sources of the contract, from which `make generate` writes the rest. */
export const contractSources = [`${contract}/schemas`, `${contract}/topics.json`]
/** The code that all services share. An application gets the packages from npm, so their code stays the same. */
export const sharedCode = [
  `${contract}/index.ts`,
  ...(isInstalled ? [] : ['packages/envelope/src', 'packages/kafka-log/src', 'packages/service-kit/src']),
]
export const ownCode = ({ folder }: Pick<Service, 'folder'>): string[] => [
  `${folder}/src`,
  `${folder}/appsettings.json`,
]

/** Returns the files and folders that a service reads when it starts, relative to the repository. */
export const serviceFiles = (service: Pick<Service, 'folder'>): string[] => [
  ...ownCode(service),
  `${service.folder}/dist`,
  ...sharedCode,
  ...contractSources,
  ...['asyncapi.json', 'bundled', 'topics.gen.ts', 'types.gen.ts'].map((name) => `${contract}/${name}`),
  'components/trust',
  'package-lock.json',
  'services.json',
]

/** Returns a hash of the paths and contents of all files. Missing paths are left out. */
export function hashOfFiles(paths: readonly string[], root = repository): string {
  const hash = createHash('sha256')
  for (const path of paths.flatMap((each) => filesAt(root, each))) {
    const content = readFileSync(join(root, path))
    hash.update(`${path}\n${content.length}\n`).update(content)
  }
  return hash.digest('base64url')
}

function filesAt(root: string, path: string): string[] {
  const at = statSync(join(root, path), { throwIfNoEntry: false })
  if (!at?.isDirectory()) return at ? [path] : []
  return readdirSync(join(root, path))
    .sort()
    .flatMap((name) => filesAt(root, join(path, name)))
}
