import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { docker } from '../containers/docker.ts'
import { readProject, volumeOf } from '../containers/project.ts'
import { StackError } from '../lib/error.ts'
import { localFolder, repository } from '../lib/paths.ts'
import { storedServices } from '../lib/services.ts'
import { databaseFile, databaseFolder, storeOf } from '../processes/plan.ts'
import { runningWay, type Way } from './way.ts'

/** The stores that a stack may have, by how it runs; the first is the usual one. */
const stores = { local: ['sqlite', 'postgresql'], docker: ['mongodb', 'postgresql'] } as const

type StoreOf<SomeWay extends Way> = (typeof stores)[SomeWay][number]

/**
 * The store that `STORE` names for a stack that runs this way; without it that of the last start. When it is another one, says where
 * the data of the last one stays.
 * @throws {StackError} `usage` for a store that there is not this way, `still-running` when the stack runs with another
 */
export async function chooseStore<SomeWay extends Way>(
  way: SomeWay,
  asked: string | undefined,
  onProgress: (line: string) => void,
): Promise<StoreOf<SomeWay>> {
  if (asked) requireStore(way, asked)
  const last = lastStore(way)
  const store = (asked || last) as StoreOf<SomeWay>
  if (store === last) return store
  if (await runningWay()) {
    throw new StackError('still-running', `the stack runs already (STORE=${last})`, {
      nextStep: `make down, then make up STORE=${store}`,
    })
  }
  const kept = await dataOf(way, last)
  if (kept) {
    onProgress(`store: ${store}; what ${last} has stays in ${kept}, and make up STORE=${last} goes on with it`)
    onProgress(`store: ${store} gets what is published from now on; make rebuild SERVICE=... gives it what was before`)
  }
  return store
}

/** @throws {StackError} `usage` for a store that there is not; this way, or any way when none is named */
export function requireStore(way: Way | undefined, asked: string): void {
  const allowed: readonly string[] = way ? stores[way] : Object.values(stores).flat()
  if (allowed.includes(asked)) return
  const ways = { local: 'as processes (STACK=local)', docker: 'in containers (STACK=docker)' }
  const each = Object.entries(stores).map(([name, names]) => `${names.join(' or ')} ${ways[name as Way]}`)
  throw new StackError('usage', `STORE=${asked} is not supported${way ? ` ${ways[way]}` : ''}`, {
    nextStep: `STORE is ${each.join(', ')}, or left out`,
  })
}

function lastStore(way: Way): string {
  return way === 'local' ? storeOf(localFolder) : (readProject()?.store ?? stores.docker[0])
}

/** Where a store has data; undefined when it has none. */
async function dataOf(way: Way, store: string): Promise<string | undefined> {
  if (way === 'local') {
    const files = storedServices.map((service) => databaseFile(localFolder, service))
    const found = (store === 'sqlite' ? files : [databaseFolder(localFolder)]).filter((path) => existsSync(path))
    return found.map((path) => relative(repository, path)).join(', ') || undefined
  }
  const project = readProject()
  if (!project) return undefined
  const volume = volumeOf(project, project.store)
  const names = await docker('volume', 'ls', '--quiet', '--filter', `name=^${volume}$`)
  return names.trim() ? `the volume ${volume}` : undefined
}
