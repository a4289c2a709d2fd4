import { once } from 'node:events'
import { basename, relative } from 'node:path'
import { repository } from '../application/paths.ts'
import { services } from '../application/services.ts'
import { contractSources, ownCode, sharedCode } from '../processes/process/files.ts'

/** The consequences of changed files. */
export interface Changes {
  /** The services that run the changed code. */
  restarts: Set<string>
  /** True if types must be generated first. */
  needsTypes: boolean
  /** True if services.json has changed. */
  needsApplication: boolean
}

const isIn = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`)
const isInOneOf = (path: string, folders: readonly string[]) => folders.some((folder) => isIn(path, folder))

/** Files that `make generate` writes, and temporary files of editors. */
const isUnwanted = (path: string) => /\.gen\.ts$|^\.|~$/.test(basename(path))

/**
 * Returns the consequences of one changed file; undefined if there are none.
 * @param path relative to the repository
 * @param names the services to restart
 */
export function consequencesOf(path: string, names: readonly string[]): Changes | undefined {
  if (isUnwanted(path)) return undefined
  const all = { restarts: new Set(names), needsTypes: false, needsApplication: false }
  if (path === 'services.json') return { ...all, needsTypes: true, needsApplication: true }
  if (isInOneOf(path, contractSources)) return { ...all, needsTypes: true }
  if (isInOneOf(path, sharedCode)) return all
  const service = services.find((each) => isInOneOf(path, ownCode(each)))
  return service && names.includes(service.name) ? { ...all, restarts: new Set([service.name]) } : undefined
}

/** The time without a further change after which changes are handled. Editors and Git change several files at a time. */
const quietMs = 50

/**
 * Calls `onChanges` after each group of changes, until `signal` aborts. Watches folders instead of files, because editors replace files.
 * @param names the services to restart
 */
export async function watchChanges(
  names: readonly string[],
  onChanges: (changes: Changes) => void,
  signal: AbortSignal,
): Promise<void> {
  const own = services.filter(({ name }) => names.includes(name)).flatMap(ownCode)
  const wanted = ['services.json', ...contractSources, ...sharedCode, ...own]
  const isIgnored = (file: string) => {
    const path = relative(repository, file)
    return path !== '' && (isUnwanted(path) || !(isInOneOf(path, wanted) || wanted.some((each) => isIn(each, path))))
  }
  // Loads the module on demand, because other commands do not need it.
  const { watch } = await import('chokidar')
  const watcher = watch(repository, { ignored: isIgnored, ignoreInitial: true })
  let found: Changes | undefined
  let timer: NodeJS.Timeout | undefined
  const report = () => {
    const changes = found
    found = undefined
    if (changes) onChanges(changes)
  }
  watcher.on('all', (event, file) => {
    const changes = event.endsWith('Dir') ? undefined : consequencesOf(relative(repository, file), names)
    if (!changes) return
    found = {
      restarts: new Set([...(found?.restarts ?? []), ...changes.restarts]),
      needsTypes: changes.needsTypes || (found?.needsTypes ?? false),
      needsApplication: changes.needsApplication || (found?.needsApplication ?? false),
    }
    clearTimeout(timer)
    timer = setTimeout(report, quietMs)
  })
  await once(watcher, 'ready', { signal })
  signal.addEventListener('abort', () => {
    clearTimeout(timer)
    void watcher.close()
  })
}
