import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EnvelopeErrorCode } from '@orderflow/envelope-schema'
import { repository } from '@orderflow/stack'

// The form of envelope-schema/fixtures/README.md.

export interface ValidFixture {
  variant: 'full' | 'reduced'
  envelope?: Record<string, unknown>
  envelopeText?: string
  envelopeBase64?: string
}

export interface InvalidFixture {
  check: 'full' | 'received'
  input?: unknown
  inputText?: string
  inputBase64?: string
  code: EnvelopeErrorCode
  problems: { pointer: string }[]
}

export function fixtures<T>(kind: 'valid' | 'invalid'): (T & { file: string; description: string })[] {
  const folder = join(repository, 'envelope-schema/fixtures', kind)
  return readdirSync(folder).map((file) => ({ file, ...JSON.parse(readFileSync(join(folder, file), 'utf8')) }))
}
