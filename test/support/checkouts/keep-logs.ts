import { cpSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { testFolder } from '@orderflow/stack/base'

/** Copies the logs of a stack to the folder of a suite, before the stack's application is removed. */
export function keepLogs(application: string, suite: string): void {
  const [from, to] = [join(application, '.stack/logs'), join(testFolder(suite), 'logs')]
  rmSync(to, { recursive: true, force: true })
  if (existsSync(from)) cpSync(from, to, { recursive: true })
}
