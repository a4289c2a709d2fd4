import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { withLock } from '../../lib/pid-lock.ts'
import { releaseFolder } from './private-file.ts'

interface LockOptions {
  app: string
  env: NodeJS.ProcessEnv
  /** Told which process it waits for. */
  onWait: (pid: number) => void
}

/** Two releases of one app at once would each undo a part of the other. */
export function withAppLock<Result>({ app, env, onWait }: LockOptions, work: () => Promise<Result>): Promise<Result> {
  const folder = join(releaseFolder(env), 'apps')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return withLock(join(folder, `${app}.lock`), { timeoutMs: 600_000, onWait }, work)
}
