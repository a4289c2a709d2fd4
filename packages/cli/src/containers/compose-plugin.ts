import { existsSync, lstatSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { StackError } from '../lib/error.ts'
import { cacheFolder, versions } from '../lib/paths.ts'
import type { Provisioned, ProvisionOptions } from '../provision/build.ts'
import { buildTime, goBuild } from '../provision/build.ts'
import { provisionTools } from '../provision/provision.ts'
import { go } from '../provision/tools.ts'
import { docker } from './docker.ts'

/**
 * Makes sure `docker compose` works: builds the plugin from its Go module and links it into this user's plugins.
 * @throws {StackError} `provision-failed` when a plugin is there already and does not work, `tools-missing`
 */
export async function ensureCompose(options: ProvisionOptions): Promise<void> {
  if (!(await composeMissing())) return
  await provisionTools([composeTool()], options)
  link(join(composeTool().folder, 'docker-compose'), pluginFile())
  if (!(await composeMissing())) return
  throw new StackError('provision-failed', `docker does not take ${pluginFile()} as its compose command`, {
    nextStep: 'docker compose version, to see why',
  })
}

/** Why `docker compose` cannot be used; undefined when it works. */
export function composeMissing(): Promise<string | undefined> {
  return docker('compose', 'version').then(
    () => undefined,
    () => 'docker has no compose command',
  )
}

const name = `docker compose ${versions.compose}`
const about = `${name}: building from source: ${buildTime(5)}`

/** Docker Compose v2, which Debian 12 does not have. */
function composeTool(): Provisioned {
  return { folder: join(cacheFolder(), `compose-${versions.compose}`), about, needs: [go], make: build }
}

const path = 'github.com/docker/compose/v2'

/** The module that holds the plugin. */
export const composeModule = `${path}@v${versions.compose}`

async function build(folder: string, options: ProvisionOptions): Promise<void> {
  const program = {
    name,
    module: composeModule,
    package: './cmd',
    flags: [],
    variables: { [`${path}/internal.Version`]: `v${versions.compose}` },
  }
  await goBuild(join(folder, 'docker-compose'), program, options)
}

function pluginFile(): string {
  return join(process.env.DOCKER_CONFIG || join(homedir(), '.docker'), 'cli-plugins/docker-compose')
}

/** Never replaces a plugin, only a link to one that is gone. */
function link(target: string, file: string): void {
  const isThere = lstatSync(file, { throwIfNoEntry: false })
  if (isThere && (!isThere.isSymbolicLink() || existsSync(file))) {
    throw new StackError('provision-failed', `docker compose does not work, though ${file} is there`, {
      nextStep: `docker compose version, to see why; or remove ${file}`,
    })
  }
  if (isThere) rmSync(file)
  mkdirSync(dirname(file), { recursive: true })
  symlinkSync(target, file)
}
