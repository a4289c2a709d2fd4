import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EnvelopeErrorCode } from '@orderflow/envelope-schema'
import { repository } from '@orderflow/stack/base'

// A fixture in the format that envelope-schema/fixtures/README.md describes.

export interface Fixture {
  file: string
  description: string
  verdict: { full: boolean; received: boolean }
  inputText?: string
  inputBase64?: string
  input?: unknown
  envelope?: Record<string, unknown>
}

export interface ValidFixture {
  variant: 'full' | 'reduced'
  envelope: Record<string, unknown>
}

export interface InvalidFixture {
  check: 'full' | 'received'
  code: EnvelopeErrorCode
  problems: { pointer: string }[]
}

export function fixtures<T>(kind: 'valid' | 'invalid'): (Fixture & T)[] {
  const folder = join(repository, 'envelope-schema/fixtures', kind)
  return readdirSync(folder).map((file) => ({ file, ...JSON.parse(readFileSync(join(folder, file), 'utf8')) }))
}

export function fixtureBytes({ inputBase64, inputText, envelope, input = envelope }: Fixture): Buffer {
  return inputBase64 === undefined
    ? Buffer.from(inputText ?? JSON.stringify(input))
    : Buffer.from(inputBase64, 'base64')
}
