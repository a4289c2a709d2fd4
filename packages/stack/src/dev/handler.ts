import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { programFile, repository } from '../application/paths.ts'
import { succeeds } from '../base/attempt.ts'
import { runTool } from '../base/run-tool.ts'
import type { Changes } from './changes.ts'
import type { Restarts } from './restarts.ts'

/** Returns functions that handle changes and check services, one after the other. */
export function createHandler(restarts: Restarts, print: (line: string) => void, signal: AbortSignal) {
  const before = stackOf(readApplication())
  let last: Promise<void> = Promise.resolve()
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const ended = last.then(work)
    last = ended.catch(() => {})
    return ended
  }

  async function handle({ restarts: names, needsTypes, needsApplication }: Changes): Promise<void> {
    if (needsApplication && !isDeepStrictEqual(stackOf(readApplication()), before)) {
      print(
        'services.json: the stack must change, too. End make dev with Ctrl-C, run make generate, make down and make dev',
      )
      return
    }
    if (!needsTypes || (await generates())) await restarts.restart(names)
  }

  /** Runs `make generate`. Returns false if a schema or services.json is invalid. */
  async function generates(): Promise<boolean> {
    // A new process, because this process has read the old schemas.
    const ended = runTool(process.execPath, [programFile('#generate')], {
      cwd: repository,
      onLine: print,
      signal,
    })
    const isGenerated = await succeeds(ended)
    if (!isGenerated && !signal.aborted) print('nothing is restarted: correct the error above, and save the file again')
    return isGenerated
  }

  return {
    changes: (changes: Changes) =>
      void inTurn(() => handle(changes)).catch((error: Error) => {
        if (!signal.aborted) print(`nothing is restarted: services.json: ${error.message}`)
      }),
    /** @throws {CliError} `not-running` if another command has stopped a service */
    check: () => inTurn(restarts.check),
  }
}

/** @throws {SyntaxError} */
function readApplication(): Record<string, unknown> {
  return JSON.parse(readFileSync(join(repository, 'services.json'), 'utf8')) as Record<string, unknown>
}

/** Returns the fields that determine processes, ports and topics. A restart is enough for a change of the others. */
function stackOf({
  reactions: _,
  objective: __,
  demo: ___,
  settings: ____,
  ...stack
}: Record<string, unknown>): Record<string, unknown> {
  return stack
}
