import { execFile } from 'node:child_process'
import { javaCommand } from '../lib/java.ts'

/** A program the machine must have, and how its version is read. */
export interface Tool {
  label: string
  command: string
  args: string[]
  /** Finds major and minor in what the command prints. */
  version: RegExp
  minimum: [major: number, minor: number]
  install: string
}

export const go: Tool = {
  label: 'Go',
  command: 'go',
  args: ['version'],
  version: /go(\d+)\.(\d+)/,
  minimum: [1, 26],
  install: 'install from https://go.dev/dl/',
}

export const java: Tool = {
  label: 'Java',
  command: javaCommand(),
  args: ['-version'],
  // 17.0.15, or 1.8.0 for Java 8; an early access build says just "25".
  version: /version "(\d+)(?:\.(\d+))?/,
  minimum: [17, 0],
  install: 'install with apt-get install default-jre-headless, brew install openjdk, or from https://adoptium.net/',
}

export const maven: Tool = {
  label: 'Maven',
  command: 'mvn',
  args: ['--version'],
  version: /Apache Maven (\d+)\.(\d+)/,
  minimum: [3, 6],
  install: 'install with apt-get install maven, brew install maven, or from https://maven.apache.org/download.cgi',
}

export const npm: Tool = {
  label: 'npm',
  command: 'npm',
  args: ['--version'],
  version: /^(\d+)\.(\d+)/,
  minimum: [8, 0],
  install: 'install with apt-get install npm, brew install node, or from https://nodejs.org/',
}

/** Debian's python3 alone has no pip. */
export const pip: Tool = {
  label: 'Python with pip',
  command: 'python3',
  args: ['-m', 'pip', '--version'],
  version: /^pip (\d+)\.(\d+)/,
  minimum: [22, 0],
  install: 'install with apt-get install python3-pip or brew install python',
}

/** A line per tool that is missing or too old: what is needed, what was found, where to get it. */
export async function missingTools(tools: Tool[]): Promise<string[]> {
  const found = await Promise.all(tools.map((tool) => printVersion(tool)))
  return tools.flatMap((tool, index) => describeMissing(tool, found[index]) ?? [])
}

/** `undefined` when what the command printed is new enough. */
export function describeMissing(tool: Tool, printed: string | undefined): string | undefined {
  const [major, minor] = tool.minimum
  const needs = `needs ${tool.label} ${minor ? `${major}.${minor}` : major} or newer`
  const match = tool.version.exec(printed ?? '')
  if (!match) return `${needs}: not found; ${tool.install}`
  const [foundMajor, foundMinor] = [Number(match[1]), Number(match[2] ?? 0)]
  if (foundMajor > major || (foundMajor === major && foundMinor >= minor)) return undefined
  return `${needs}: found ${foundMajor}.${foundMinor}; ${tool.install}`
}

function printVersion({ command, args }: Tool): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(command, args, (error, stdout, stderr) => resolve(error ? undefined : stdout + stderr))
  })
}
