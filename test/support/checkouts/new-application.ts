import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { repository } from '@orderflow/stack/base'
import { claimFolder } from '@orderflow/stack/internals'
import { type Ended, runIn } from '@orderflow/test-kit/stacks'
import { keepLogs } from './keep-logs.ts'
import { editorOf, type FileEditor } from './repository-copy.ts'

/** A new application outside of this repository. Paths are relative to its folder. */
export interface NewApplication extends FileEditor {
  folder: string
  /** The offset of the application's ports. */
  offset: number
  run: (command: string, args: string[], env?: Record<string, string>) => Promise<Ended>
  /** Stops the stack of the application and removes the application. */
  remove: () => Promise<void>
}

/**
 * Creates an application in a temporary folder.
 * @param create the commands that create it, in this repository
 */
export async function newApplication(name: string, create: (folder: string) => string): Promise<NewApplication> {
  const parent = realpathSync(mkdtempSync(join(tmpdir(), 'orderflow-app-')))
  const folder = join(parent, name)
  const run: NewApplication['run'] = (command, args, env) => runIn(folder, command, args, env)
  try {
    const { code, stdout, stderr } = await runIn(repository, 'bash', ['-euc', create(folder)])
    if (code !== 0) throw new Error(stdout + stderr)
    // The started processes outlive `make up`, but must end with this process.
    await claimFolder(join(folder, '.stack'))
  } catch (error) {
    rmSync(parent, { recursive: true })
    throw error
  }
  const { portOffset } = JSON.parse(readFileSync(join(folder, 'services.json'), 'utf8')) as { portOffset: number }
  return {
    ...editorOf(folder),
    ...{ folder, offset: portOffset, run },
    async remove() {
      await run('make', ['down'])
      keepLogs(folder, name)
      rmSync(parent, { recursive: true })
    },
  }
}
