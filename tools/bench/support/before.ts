import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { CliError, repository } from '@orderflow/cli'

/**
 * BEFORE=folder: a checkout of the state before, to be measured beside this one. Undefined when none is asked for.
 * @throws {CliError} `usage` for a folder that is no checkout with its packages
 */
export function beforeFolder(): string | undefined {
  const { BEFORE } = process.env
  if (!BEFORE) return undefined
  const folder = resolve(repository, BEFORE)
  if (existsSync(join(folder, 'node_modules')) && existsSync(join(folder, 'payment-service/src/main.ts'))) return folder
  throw new CliError('usage', `BEFORE=${BEFORE} is no checkout that can be run`, {
    nextStep: 'git clone . FOLDER, there git checkout COMMIT and packages/cli/node -v, and BEFORE=FOLDER',
  })
}
