import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CliError } from '../../src/base/error.ts'
import type { Cluster } from '../../src/kubernetes/cluster.ts'
import { readValues, type Values } from '../../src/kubernetes/values.ts'
import { removeFolders, temporaryFolder } from '../support.ts'

export const cluster: Cluster = { context: 'shop', server: 'https://203.0.113.1:6443', namespace: 'orders' }

export function valuesWith(text: string): Values {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'kubernetes.yaml'), text)
  return readValues(folder)
}

export async function failureOf(work: () => unknown): Promise<CliError> {
  try {
    await work()
  } catch (error) {
    if (error instanceof CliError) return error
    throw error
  }
  throw new Error('it did not fail')
}

/** Removes the programs and folders of each test. */
export function cleanUp(): void {
  const { PATH } = process.env
  afterEach(() => {
    process.env.PATH = PATH
    removeFolders()
  })
}
