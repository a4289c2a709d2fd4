import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { newSecret } from '../lib/secret.ts'
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
  const file = join(folder, 'secrets.json')
  const tokens: StackTokens = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  const without = services.filter(({ name }) => !tokens[name]?.dryRun)
  if (without.length === 0) return tokens
  for (const { name } of without)
    tokens[name] = { app: newSecret(), dapr: newSecret(), dryRun: newSecret(), ...tokens[name] }
  writeSecret(file, `${JSON.stringify(tokens, null, 2)}\n`)
  return tokens
}

/** A password of the stack, by what it is for; made once, as the tokens are. */
export function stackPassword(folder: string, use: string): string {
  const file = join(folder, `${use}.password`)
  if (!existsSync(file)) writeSecret(file, newSecret())
  return readFileSync(file, 'utf8')
}

function writeSecret(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(`${file}.new`, text, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}
