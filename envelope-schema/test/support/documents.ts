import { readdirSync, readFileSync } from 'node:fs'
import { contractFolder } from '../../index.ts'

export function bytesOf(document: unknown): Uint8Array {
  return Buffer.from(typeof document === 'string' ? document : JSON.stringify(document))
}

export function fixturesIn<T>(kind: string): (T & { file: string })[] {
  const folder = new URL(`fixtures/${kind}/`, contractFolder)
  return readdirSync(folder).map((file) => ({ file, ...JSON.parse(readFileSync(new URL(file, folder), 'utf8')) }))
}

export function passes(parse: (bytes: Uint8Array) => unknown, bytes: Uint8Array): boolean {
  try {
    return parse(bytes) !== undefined
  } catch {
    return false
  }
}
