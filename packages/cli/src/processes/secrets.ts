import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { newSecret } from '../lib/credentials.ts'
import { removeUnfinished, replaceFile } from '../lib/files.ts'
import { services } from '../lib/services.ts'

/** Tokens between one service and those who may ask it. */
export interface ServiceTokens {
  /** The sidecar shows it to the service (APP_API_TOKEN). */
  app: string
  /** The service shows it to the sidecar (DAPR_API_TOKEN). */
  dapr: string
  /** The monitor shows it to the service. */
  dryRun: string
}

/** By service. */
export type StackTokens = Record<string, ServiceTokens>

/** The stack's tokens, made once per service and kept readable by its owner only. They travel by environment, never in arguments. */
export function stackTokens(folder: string): StackTokens {
  removeUnfinished(folder)
  const file = join(folder, 'secrets.json')
  const tokens: StackTokens = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  const without = services.filter(({ name }) => !tokens[name]?.dryRun)
  if (without.length === 0) return tokens
  for (const { name } of without)
    tokens[name] = { app: newSecret(), dapr: newSecret(), dryRun: newSecret(), ...tokens[name] }
  replaceFile(file, `${JSON.stringify(tokens, null, 2)}\n`, 0o600)
  return tokens
}

/** A password of the stack, by what it is for; made once, as the tokens are. */
export function stackPassword(folder: string, use: string): string {
  const file = join(folder, `${use}.password`)
  if (!existsSync(file)) replaceFile(file, newSecret(), 0o600)
  return readFileSync(file, 'utf8')
}
