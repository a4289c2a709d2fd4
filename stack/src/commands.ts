import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { StackError } from './error.ts'
import { logTail } from './logs.ts'
import { localFolder } from './paths.ts'
import { logFile, processNames } from './plan.ts'
import { startStack } from './start.ts'
import { formatStatus, isUp, stackStatus } from './status.ts'
import { stopStack } from './stop.ts'
import { paint, print, timed } from './terminal.ts'

/** `make up`: `STACK` names how to run it; `local` is the only way so far. */
export async function up(env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<void> {
  if (env.STACK && env.STACK !== 'local') {
    throw new StackError('usage', `STACK=${env.STACK} is not supported`, { nextStep: 'STACK is local, or left out' })
  }
  const onProgress = timed()
  await startStack({ onProgress, signal })
  onProgress(paint('green', 'up'))
  print()
  print('order-service    http://localhost:5000/  https://localhost:5001/')
  print('payment-service  http://localhost:5003/  https://localhost:5002/')
  print()
  print('next: make demo')
}

export async function down(): Promise<void> {
  const stopped = await stopStack(localFolder, timed())
  print(stopped.length > 0 ? 'down' : 'nothing was running')
}

/** Returns the exit code: 1 when something is down. */
export function status(): number {
  const rows = stackStatus(localFolder)
  const colours = { running: 'green', stopped: 'dim', crashed: 'red' } as const
  const [header = '', ...lines] = formatStatus(rows)
  print(paint('bold', header))
  lines.forEach((line, index) => {
    print(paint(colours[rows[index]?.state ?? 'stopped'], line))
  })
  if (isUp(rows)) return 0
  print()
  print('next: make up')
  return 1
}

/** The end of every log. */
export function showLogs(): void {
  for (const name of processNames) {
    print(paint('bold', `==> ${name} (${logFile(localFolder, name)})`))
    print(logTail(localFolder, name, 40))
    print()
  }
}

/** Removes what a stopped stack left: events, orders, payments and logs. Its certificate and tokens stay. */
export function clean(): void {
  if (stackStatus(localFolder).some((row) => row.state === 'running')) {
    throw new StackError('still-running', 'the stack is running', { nextStep: 'make down, then make clean' })
  }
  const present = ['data', 'logs', 'run'].map((name) => join(localFolder, name)).filter((folder) => existsSync(folder))
  for (const folder of present) {
    rmSync(folder, { recursive: true })
    print(`removed ${folder}`)
  }
  if (present.length === 0) print('nothing to remove')
}
