import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { withLock } from '@orderflow/stack'
import type { Context } from '../commands/context.ts'
import { releaseFolder } from './private-file.ts'

/** Two releases of one app at once would each undo a part of the other. */
export function withAppLock<Result>({ env, operator, out }: Context, work: () => Promise<Result>): Promise<Result> {
  const folder = join(releaseFolder(env), 'apps')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, `${operator.app}.lock`)
  const onWait = (pid: number) => out.complain(`waiting: process ${pid} is releasing ${operator.app}`)
  return withLock(file, { timeoutMs: 600_000, onWait }, work)
}
