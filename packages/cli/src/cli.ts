import { print, reportFailure } from '@orderflow/stack/base'
import { runCommandLine } from './command-line.ts'
import { commandGroups } from './commands.ts'

/** Returns a signal that the first Ctrl-C aborts, so that the command can clean up before it ends. */
function interruption(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort())
  return controller.signal
}

// The command continues if the reader of its output ends early, as in `make up | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return
  process.stderr.write(`error: the output cannot be written: ${error.message}\n`)
  process.exit(1)
})
try {
  process.exitCode = await runCommandLine(commandGroups, process.argv.slice(2), interruption, print)
} catch (failure) {
  await reportFailure(failure)
}
