import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { programFile, repository } from '../application/paths.ts'
import { application, type ServicePorts, services } from '../application/services.ts'
import { attempt, CliError } from '../base/error.ts'
import { filesIn, replaceFile } from '../base/files.ts'
import { withMember } from '../base/json.ts'
import { runTool } from '../base/run-tool.ts'
import { print } from '../base/terminal.ts'
import { brokersFile, postgresqlFile } from '../containers/project.ts'
import { generatedPaths } from '../generate/files.ts'
import { heardEvent, serviceFiles } from './template.ts'

/**
 * Runs `make new-service`. After a failure, all files are the same as before.
 * @param event by default the first answer of the first reaction in services.json
 * @param install installs the packages of a folder, with additional flags of `npm install`
 * @throws {CliError} `usage` for an invalid or used name, or an unknown event
 */
export async function newService(
  name: string,
  event: string | undefined,
  install: (folder: string, ...flags: string[]) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const heard = heardEvent(event)
  const ports = nextPorts()
  const files = serviceFiles(name, heard)
  if (services.some((service) => service.name === name) || existsSync(join(repository, name))) {
    throw new CliError('usage', `${name} already exists`, { nextStep: 'choose another name' })
  }
  const registered = withService(readFileSync(registry, 'utf8'), name, { ...ports, topic: heard.topic })
  const undo = undoCommand(repository, name)

  await orRestore(name, await generatedPaths(), signal, async () => {
    await create(name, files, registered, signal)
    // Makes the folder an npm workspace. All packages are installed already, so npm needs no network.
    await install(repository, '--offline')
  })

  for (const path of files.keys()) print(`written: ${name}/${path}`)
  print(`written: components/subscriptions.${name}.yaml`)
  for (const path of changed) print(`changed: ${path}`)
  print()
  print(
    `${name} receives the events of ${heard.topic}. Its addresses are http://localhost:${ports.http}/ and https://localhost:${ports.https}/.`,
  )
  print('next: make up, then continue with docs/new-service.md')
  if (undo) print(`undo: ${undo}`)
}

const registry = join(repository, 'services.json')

async function create(
  name: string,
  files: ReadonlyMap<string, string>,
  registered: string,
  signal: AbortSignal,
): Promise<void> {
  const run = (...args: string[]) => runTool(process.execPath, args, { cwd: repository, signal })
  for (const [path, text] of files) replaceFile(join(repository, name, path), text)
  writeFileSync(registry, registered)
  await run('node_modules/.bin/biome', 'check', '--write', name)
  // Generates files in a new process, because this process has already read the old services.json.
  await run(programFile('#generate'))
}

/** @param generated the paths of generated files, because `generate` also writes those that are out of date for another reason */
async function orRestore(
  name: string,
  generated: readonly string[],
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<void> {
  const installed = ['.package-lock.json', '.installed-lock.json'].map((file) => `node_modules/${file}`)
  const restore = snapshotOf(repository, new Set([...changed, ...generated, ...installed]))
  try {
    await work()
  } catch (cause) {
    rmSync(join(repository, name), { recursive: true, force: true })
    restore()
    if (signal.aborted) throw new CliError('interrupted', `interrupted; ${name} was not created`)
    throw new CliError('provision-failed', `${name} was not created: ${(cause as Error).message}`, {
      nextStep: 'correct the cause, and run this again; all files are the same as before',
      cause,
    })
  }
}

/** The files and folders that the command changes. */
export const changed = [
  'services.json',
  'chart',
  'components',
  'docker-compose.yml',
  brokersFile,
  postgresqlFile,
  '.devcontainer/devcontainer.json',
  '.run',
  '.vscode/launch.json',
  'envelope-schema/asyncapi.json',
  'package-lock.json',
]

/** Returns a command that restores the changed files and removes the service. Returns undefined without a Git repository. */
export function undoCommand(folder: string, name: string): string | undefined {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  const state = attempt(() => git('stash', 'create') || git('rev-parse', 'HEAD'))
  const subscriptions = ['components', 'chart/files/components'].map((each) => `${each}/subscriptions.${name}.yaml`)
  const files = [name, ...subscriptions, `.run/attach-to-${name}.run.xml`]
  return state && `git restore --source=${state.slice(0, 12)} ${changed.join(' ')} && git clean -fdx ${files.join(' ')}`
}

type NewPorts = Pick<ServicePorts, 'http' | 'https' | 'channel'>

export function nextPorts(): NewPorts {
  const taken = new Set(services.flatMap((service) => [service.http, service.https]))
  let http = application.portOffset + 5000
  while (taken.has(http) || taken.has(http + 1)) http += 2
  return { http, https: http + 1, channel: http + 100 }
}

/**
 * Returns services.json with an additional service. Other entries keep their layout.
 * @throws {CliError} `usage` if the file has no service yet
 */
function withService(
  registry: string,
  name: string,
  { http, https, channel, topic }: NewPorts & { topic: string },
): string {
  const entry = `    "${name}": {
      "http": ${http},
      "https": ${https},
      "channel": ${channel},
      "replicas": 1,
      "consumes": { "${topic}": "prompt" },
      "produces": {}
    }`
  const text = withMember(registry, ['services'], entry)
  if (text !== undefined) return text
  throw new CliError('usage', 'services.json has no service that the new one could follow', {
    nextStep: 'add the first service by hand (docs/own-application.md)',
  })
}

/**
 * Reads files, and all files of folders. Returns a function that restores them, and removes files that were added since.
 * @param paths files and folders, relative to `root`, which may be missing
 */
export function snapshotOf(root: string, paths: Iterable<string>): () => void {
  const all = [...paths]
  const before = new Map(filesAt(root, all).map((file) => [file, readFileSync(file)]))
  return () => {
    // Removes files first, because a full disk may be the reason to restore.
    for (const file of filesAt(root, all)) if (!before.has(file)) rmSync(file, { force: true })
    for (const [file, content] of before) {
      if (existsSync(file) && readFileSync(file).equals(content)) continue
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, content)
    }
  }
}

function filesAt(root: string, paths: string[]): string[] {
  return paths.flatMap((path) => {
    const state = statSync(join(root, path), { throwIfNoEntry: false })
    if (!state?.isDirectory()) return state ? [join(root, path)] : []
    return filesIn(join(root, path))
  })
}
