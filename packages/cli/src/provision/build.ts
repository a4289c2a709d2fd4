import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { CliError } from '../lib/error.ts'
import { cacheFolder, repository } from '../lib/paths.ts'
import { runTool, withHeartbeat } from '../lib/run-tool.ts'
import { go, pip, type Tool } from './tools.ts'

export interface ProvisionOptions {
  onProgress: (line: string) => void
  signal?: AbortSignal | undefined
}

/** A thing the cache holds, and how it gets there. */
export interface Provisioned {
  /** The folder in the cache; it exists only when complete. */
  folder: string
  /** A line printed before the work begins: what is made, why here, and how long that takes. */
  about: string
  /** Tools that are needed to make it. */
  needs: Tool[]
  /** Makes it in an empty folder, which then takes its final name. */
  make: (folder: string, options: ProvisionOptions) => Promise<void>
}

export const hashesFile = join(repository, 'packages/cli/hashes.json')

/**
 * The hash of each download, by its name: a Go module's `h1:` (which covers its go.sum, and so all it needs), and of a file of npm's or
 * Maven's its `sha512-`, in base64. `make -C tools hashes` writes it.
 */
export const hashes = JSON.parse(readFileSync(hashesFile, 'utf8')) as Record<string, string>

/** @throws {CliError} `wrong-hash` when this is not what packages/cli/hashes.json says, or it says nothing */
export function checkHash(name: string, found: string): void {
  const pinned = hashes[name]
  if (pinned === found) return
  throw new CliError(
    'wrong-hash',
    `${name} is ${found}, and packages/cli/hashes.json says ${pinned ?? 'nothing about it'}`,
    {
      nextStep: pinned
        ? 'do not use it: find out who changed it'
        : 'make -C tools hashes, when its version was changed on purpose',
    },
  )
}

/** Returns the hash of a file as npm writes it: `sha512-` and base64. */
export function hashOf(file: string): string {
  return `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`
}

/** A program that its Go module holds. */
interface GoProgram {
  /** Its name in progress lines. */
  name: string
  /** `path@version` */
  module: string
  /** The folder of its main package in the module. */
  package: string
  /** Further flags of `go build`. */
  flags: string[]
  /** The variables of its packages that hold a version, and the value. */
  variables: Record<string, string>
}

/** A program of one module, built into a folder of the cache under its own name. */
export function goTool(
  tool: string,
  version: string,
  processorMinutes: number,
  program: Omit<GoProgram, 'name' | 'flags'> & Partial<Pick<GoProgram, 'flags'>>,
): Provisioned {
  const name = `${tool} ${version}`
  return {
    folder: join(cacheFolder(), `${tool}-${version}`),
    about: `${name}: building from source: ${buildTime(processorMinutes)}`,
    needs: [go],
    async make(folder, options) {
      await goBuild(join(folder, tool), { name, flags: [], ...program }, options)
    },
  }
}

/** Returns the time that a build takes on this machine. */
export function buildTime(processorMinutes: number): string {
  const cores = availableParallelism()
  return `about ${Math.ceil(processorMinutes / cores)} minutes on ${cores} cores, once`
}

/**
 * Where Go is older than the module asks for, Go fetches the version it asks for, also where an image's default forbids that. A go.work
 * names modules beside this one, which are not in its download.
 */
const environment = { GOTOOLCHAIN: 'auto', GOWORK: 'off' }

/**
 * Builds a static program into `file`, with progress lines. Answers the folder of the module's sources, which is read only.
 * @throws {CliError} `wrong-hash` before anything of the module runs
 */
export async function goBuild(file: string, program: GoProgram, options: ProvisionOptions): Promise<string> {
  const { onProgress, signal } = options
  let downloaded = 0
  let compiled = 0
  const detail = () => `${downloaded} modules downloaded, ${compiled} packages compiled`
  return await withHeartbeat(program.name, { onProgress, detail }, async () => {
    const folder = join(file, '..')
    const get = ['mod', 'download', '-json', program.module]
    const download = await runTool('go', get, { cwd: folder, env: environment, signal })
    const source = JSON.parse(download) as { Dir: string; Sum: string }
    checkHash(program.module, source.Sum)
    const variables = Object.entries(program.variables).map(([name, value]) => `-X ${name}=${value}`)
    const flags = ['-v', '-trimpath', '-ldflags', ['-s -w', ...variables].join(' '), ...program.flags]
    await runTool('go', ['build', ...flags, '-o', file, program.package], {
      cwd: source.Dir,
      env: { ...environment, CGO_ENABLED: '0' },
      // With -v go names each package it compiles; downloads have a prefix.
      onLine: (line) => {
        if (line.startsWith('go: ')) downloaded += 1
        else compiled += 1
      },
      signal,
    })
    return source.Dir
  })
}

/**
 * Returns a tool of PyPI packages, which a list with hashes names, in a folder of the cache: programs in `bin`, which find their modules with this folder as
 * `PYTHONPATH`.
 * @param about what is fetched, and how much
 */
export function pythonPackages(name: string, requirements: string, about: string): Provisioned {
  const hash = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 16)
  const make = (folder: string, options: ProvisionOptions) => installWheels(folder, requirements, options)
  return { folder: join(cacheFolder(), `${name}-${hash}`), about, needs: [pip], make }
}

async function installWheels(folder: string, requirements: string, { signal }: ProvisionOptions): Promise<void> {
  const options = ['--quiet', '--disable-pip-version-check', '--no-deps', '--only-binary', ':all:', '--require-hashes']
  const args = ['-m', 'pip', 'install', ...options, '--target', folder, '--requirement', requirements]
  await runTool('python3', args, { cwd: folder, env: { PIP_ROOT_USER_ACTION: 'ignore' }, signal })
}
