import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { cacheFolder, packageFile, stackFolder } from '../application/paths.ts'
import { CliError } from '../base/error.ts'
import { runTool, withHeartbeat } from '../base/run-tool.ts'
import { go, type Tool } from './tools.ts'

export interface ProvisionOptions {
  onProgress: (line: string) => void
  signal?: AbortSignal | undefined
}

export interface Provisioned {
  /** The folder of the tool. It exists only if the tool is complete. */
  folder: string
  /** A progress line with the tool, the method and the usual time. */
  about: string
  needs: Tool[]
  /** Creates the tool in an empty folder. The caller renames the folder afterwards. */
  make: (folder: string, options: ProvisionOptions) => Promise<void>
}

export const hashesFile = join(stackFolder, 'hashes.json')

/** The hashes of downloads, by name. The `h1:` hash of a Go module also covers its dependencies (go.sum). `make -C tools hashes` writes this file. */
export const hashes = JSON.parse(readFileSync(hashesFile, 'utf8')) as Record<string, string>

/** @throws {CliError} `wrong-hash` if packages/stack/hashes.json has another hash or none */
export function checkHash(name: string, found: string): void {
  const pinned = hashes[name]
  if (pinned === found) return
  const listed = `${packageFile('stack/hashes.json')} has ${pinned ?? 'no hash of it'}`
  throw new CliError('wrong-hash', `the hash of ${name} is ${found}, but ${listed}`, {
    nextStep: pinned
      ? 'do not use this file, and find out why it changed'
      : 'if you changed the version, run make -C tools hashes',
  })
}

/** Returns the hash of a file in npm's form: `sha512-` and base64. */
export function hashOf(file: string): string {
  return `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`
}

interface GoProgram {
  name: string
  /** `path@version` */
  module: string
  package: string
  flags: string[]
  /** Go variables that contain the version, with their values. */
  variables: Record<string, string>
}

/**
 * Returns a program of a Go module, with a separate folder in the cache.
 * @param program `file` is the name of the program, by default that of the tool
 */
export function goTool(
  tool: string,
  version: string,
  processorMinutes: number,
  { file = tool, ...program }: Omit<GoProgram, 'name' | 'flags'> & { flags?: string[]; file?: string },
): Provisioned {
  const name = `${tool} ${version}`
  return {
    folder: join(cacheFolder(), `${tool}-${version}`),
    about: `${name}: building from source: ${buildTime(processorMinutes)}`,
    needs: [go],
    async make(folder, options) {
      await goBuild(join(folder, file), { name, flags: [], ...program }, options)
    },
  }
}

export function buildTime(processorMinutes: number): string {
  const cores = availableParallelism()
  return `about ${Math.ceil(processorMinutes / cores)} minutes on ${cores} cores, once`
}

/** Lets Go download the Go version that a module requires. Ignores go.work, which names modules outside the download. */
const environment = { GOTOOLCHAIN: 'auto', GOWORK: 'off' }

/**
 * Builds a static program into `file`. Returns the read-only folder of the module's sources.
 * @throws {CliError} `wrong-hash` before any code of the module runs
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
      // With -v, go prints the name of each compiled package. Lines about downloads have a prefix.
      onLine: (line) => {
        if (line.startsWith('go: ')) downloaded += 1
        else compiled += 1
      },
      signal,
    })
    return source.Dir
  })
}
