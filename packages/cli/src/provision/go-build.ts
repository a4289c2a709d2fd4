import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { cacheFolder } from '../lib/paths.ts'
import { runTool, withHeartbeat } from '../lib/run-tool.ts'
import { checkHash } from './hashes.ts'
import type { Provisioned, ProvisionOptions } from './options.ts'
import { go } from './tools.ts'

/** A program that its Go module holds. */
export interface GoProgram {
  /** What progress lines call it. */
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

/** How long a build takes here that takes so many minutes of one core. */
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
 * @throws {StackError} `wrong-hash` before anything of the module runs
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
