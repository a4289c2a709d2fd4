import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Tokens between one service and its sidecar. */
export interface ServiceTokens {
  /** The sidecar shows it to the service (APP_API_TOKEN). */
  app: string
  /** The service shows it to the sidecar (DAPR_API_TOKEN). */
  dapr: string
}

export interface StackTokens {
  order: ServiceTokens
  payment: ServiceTokens
}

/** The stack's tokens, made once per folder and kept readable by its owner only. They travel by environment, never in arguments. */
export function stackTokens(folder: string): StackTokens {
  const file = join(folder, 'secrets.json')
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const token = () => randomBytes(24).toString('base64url')
    const pair = (): ServiceTokens => ({ app: token(), dapr: token() })
    const tokens: StackTokens = { order: pair(), payment: pair() }
    writeFileSync(`${file}.new`, `${JSON.stringify(tokens, null, 2)}\n`, { mode: 0o600 })
    renameSync(`${file}.new`, file)
  }
  return JSON.parse(readFileSync(file, 'utf8')) as StackTokens
}
