import { existsSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { type ApiKeyRecord, parseApiKeys } from '@orderflow/service-kit/setup'
import { apiKeysFile, repository } from './application/paths.ts'
import { replaceFile } from './base/files.ts'
import type { ApiKeysText } from './runner.ts'
import { clusterRunner } from './runners.ts'

/** The keys in the file of this checkout. Other users may read the file, for example the users of containers. */
const keysOfCheckout: ApiKeysText = {
  name: relative(repository, apiKeysFile),
  read: async () => {
    ensureApiKeys()
    return readFileSync(apiKeysFile, 'utf8')
  },
  write: async (text) => replaceFile(apiKeysFile, text, 0o644),
  delay: 'a second',
}

/** Creates the file of keys if it is missing, because services watch this file. */
export function ensureApiKeys(): void {
  if (!existsSync(apiKeysFile)) replaceFile(apiKeysFile, textOf([]), 0o644)
}

const textOf = (records: readonly ApiKeyRecord[]) => `${JSON.stringify(records, null, 2)}\n`

/** The API keys of a stack. */
export interface ApiKeys extends Pick<ApiKeysText, 'name' | 'delay'> {
  records: ApiKeyRecord[]
  write: (records: readonly ApiKeyRecord[]) => Promise<void>
}

/** Reads the keys of the running stack, otherwise those of this checkout. */
export async function readApiKeys(): Promise<ApiKeys> {
  const { name, delay, read, write } = (await clusterRunner())?.apiKeys ?? keysOfCheckout
  return { name, delay, records: parseApiKeys(await read()), write: (records) => write(textOf(records)) }
}
