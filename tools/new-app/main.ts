import { relative, resolve } from 'node:path'
import { CliError, reportError, timed } from '@orderflow/cli'
import { buildPackages, packPackages } from '@orderflow/packages'
import { createApp } from './app.ts'

/** Runs `make new-app DIR=... [EMPTY=1] [VERSION=...]`. */
async function main({ DIR = '', EMPTY = '', VERSION }: NodeJS.ProcessEnv): Promise<void> {
  if (DIR === '') throw new CliError('usage', 'DIR is missing', { nextStep: 'make new-app DIR=../my-company' })
  const onProgress = timed()
  onProgress('packages: building')
  await buildPackages(VERSION)
  const archives = await packPackages()
  const folder = resolve(DIR)
  await createApp({ folder, isEmpty: EMPTY !== '', archives, onProgress })
  console.log(
    `\n${folder} is ready. Next:\n\n  cd ${relative('.', folder)}\n  make up\n  ${EMPTY ? 'make help' : 'make demo'}`,
  )
}

try {
  await main(process.env)
} catch (error) {
  reportError(error)
}
