import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { CliError, repository } from '@orderflow/stack/base'

/**
 * Returns the folder of an older checkout (BEFORE=folder), or undefined.
 * @throws {CliError} `usage` if it is not a checkout with installed packages
 */
export function beforeFolder(): string | undefined {
  const { BEFORE } = process.env
  if (!BEFORE) return undefined
  const folder = resolve(repository, BEFORE)
  if (existsSync(join(folder, 'node_modules')) && existsSync(join(folder, 'payment-service/src/main.ts'))) return folder
  throw new CliError('usage', `BEFORE=${BEFORE} is not a checkout with installed packages`, {
    nextStep: 'git clone . FOLDER, run git checkout COMMIT and packages/cli/node -v in it, and set BEFORE=FOLDER',
  })
}
