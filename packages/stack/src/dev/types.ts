import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'
import { join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { localFolder, repository } from '../application/paths.ts'

/** The niceness of the compiler, so that services restart first. */
const niceness = 10

/** The time without a further change after which types are checked. */
const quietMs = 100

const compiler = join(repository, 'node_modules/typescript/bin/tsc')

/** Matches folders that contain no sources of the application: installed and generated files, and the files that a stack writes. */
const foreign = /(^|\/)(node_modules|dist|\.[^/]*)(\/|$)/
const isSource = (path: string) => /\.(ts|tsx|json)$/.test(path)

/**
 * Checks the types at the start and after each change of a source, and prints the errors, until `signal` aborts. It does not use the compiler's own
 * watch mode: TypeScript 7.0 checked all types twice a second while a stack wrote its files.
 */
export async function watchTypes(
  print: (line: string) => void,
  signal: AbortSignal,
  folder = repository,
  state = localFolder,
): Promise<void> {
  let check = new AbortController()
  let last: Promise<void> = Promise.resolve()
  const restart = () => {
    check.abort()
    check = new AbortController()
    const own = AbortSignal.any([check.signal, signal])
    // One after the other, because all write the same file.
    last = last.then(() => checkTypes(folder, state, print, own))
  }
  // Loads the module on demand, because other commands do not need it.
  const { watch } = await import('chokidar')
  const watcher = watch(folder, {
    ignored: (file, stats) => {
      const path = relative(folder, file)
      return foreign.test(path) || (stats?.isFile() === true && !isSource(path))
    },
    ignoreInitial: true,
  })
  let timer: NodeJS.Timeout | undefined
  watcher.on('all', () => {
    clearTimeout(timer)
    timer = setTimeout(restart, quietMs)
  })
  await once(watcher, 'ready', { signal }).then(restart, () => {})
  if (!signal.aborted) await once(signal, 'abort')
  clearTimeout(timer)
  await Promise.all([watcher.close(), last])
}

/** Prints the errors, or that their number is 0. Prints nothing more after `signal` aborts. */
async function checkTypes(
  folder: string,
  state: string,
  print: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return
  // The file makes the next check faster. It contains the results of the last one.
  const incremental = ['--incremental', '--tsBuildInfoFile', join(state, 'types.tsbuildinfo')]
  const args = [compiler, '--noEmit', ...incremental, '--pretty', String(process.stdout.isTTY ?? false)]
  const tsc = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  const stop = () => tsc.kill()
  signal.addEventListener('abort', stop)
  if (tsc.pid) setPriority(tsc.pid, niceness)
  for (const input of [tsc.stdout, tsc.stderr]) {
    createInterface({ input }).on('line', (line) => {
      if (line.trim() && !signal.aborted) print(line)
    })
  }
  const [code] = await once(tsc, 'close')
  signal.removeEventListener('abort', stop)
  if (code === 0 && !signal.aborted) print('Found 0 errors.')
}
