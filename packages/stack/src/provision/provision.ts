import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { basename } from 'node:path'
import { CliError } from '../base/error.ts'
import { withLock } from '../base/lock.ts'
import type { Provisioned, ProvisionOptions } from './build.ts'
import { daprdTool, jaegerTool, kafkaTool, prometheusTool } from './programs.ts'
import { browser, describeMissing, findTools, howToBring, java, postgresql, type Tool } from './tools.ts'

/** The longest wait for another process that builds a tool, in milliseconds. */
const lockTimeoutMs = 45 * 60 * 1000

/** Returns the tools for a stack of processes. Leaves out the tools that build daprd and Kafka if the cache already has both. */
export const toolsOfProcesses = (): Tool[] => [...new Set([java, ...needsOf(parts())])]

const parts = () => [daprdTool(), kafkaTool()]

/** Tools of tests, by the names that `provision` accepts. */
const ofTests = { browser: () => browser, jaeger: jaegerTool, prometheus: prometheusTool }
type TestTool = keyof typeof ofTests

const isProvisioned = (tool: Tool | Provisioned): tool is Provisioned => 'make' in tool

/**
 * Makes sure that daprd, Kafka and Java are installed, and optionally PostgreSQL and tools of tests.
 * @throws {CliError} `usage` for an unknown tool of tests; `tools-missing` with all missing tools, before any long step; `provision-failed`
 */
export async function provision(
  options: ProvisionOptions & { tests?: readonly string[]; store?: string },
): Promise<void> {
  const { store } = options
  const tests = testToolsOf(options.tests ?? [])
  const asked = tests.map((name) => ofTests[name]())
  const made = [...parts(), ...asked.filter(isProvisioned)]
  await requireTools([java, ...needsOf(made), ...toolsOfTests(tests), ...(store === 'postgresql' ? [postgresql] : [])])
  await provisionTools(made, options)
}

export function toolsOfTests(names: readonly TestTool[]): Tool[] {
  return names.flatMap((name) => {
    const tool = ofTests[name]()
    return isProvisioned(tool) ? needsOf([tool]) : [tool]
  })
}

function testToolsOf(names: readonly string[]): TestTool[] {
  const unknown = names.find((name) => !Object.hasOwn(ofTests, name))
  if (unknown === undefined) return names as TestTool[]
  throw new CliError('usage', `unknown tool ${unknown}`, { nextStep: `use one of ${Object.keys(ofTests).join(', ')}` })
}

export async function provisionTools(tools: Provisioned[], options: ProvisionOptions): Promise<void> {
  const absent = tools.filter((tool) => !existsSync(tool.folder))
  await requireTools(needsOf(absent))
  for (const { about } of absent) options.onProgress(about)
  await allOrNothing(absent, options)
}

export function needsOf(tools: Provisioned[]): Tool[] {
  return tools.filter((tool) => !existsSync(tool.folder)).flatMap((tool) => tool.needs)
}

/** @throws {CliError} `tools-missing` with every missing or outdated tool, and the commands that install them */
export async function requireTools(tools: Tool[]): Promise<void> {
  const missing = (await findTools([...new Set(tools)])).filter(({ isNewEnough }) => !isNewEnough)
  if (missing.length === 0) return
  const nextStep = [...howToBring(missing.map(({ tool }) => tool)), 'then run this command again'].join('\n')
  throw new CliError('tools-missing', missing.map(describeMissing).join('\n'), { nextStep })
}

/** Installs tools in parallel. A failure stops the other installations, so that the user sees the error at once. */
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
  const onWait = (pid: number) =>
    options.onProgress(`${name}: waiting for process ${pid}, which builds or downloads it`)
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
