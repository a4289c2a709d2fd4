import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'

/** Asks the person at the terminal for one line. A secret one is not shown while it is typed. */
export async function ask(question: string, options: { secret: boolean }): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const output = options.secret ? silent : process.stderr
  // First, since it ends the terminal's own echo.
  const terminal = createInterface({ input: process.stdin, output, terminal: true })
  if (options.secret) process.stderr.write(question)
  terminal.once('SIGINT', () => process.exit(130))
  try {
    return (await terminal.question(options.secret ? '' : question)).trim()
  } finally {
    terminal.close()
    if (options.secret) process.stderr.write('\n')
  }
}
