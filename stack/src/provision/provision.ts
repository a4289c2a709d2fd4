import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { basename } from 'node:path'
import { StackError } from '../lib/error.ts'
import { withLock } from '../lib/pid-lock.ts'
import { missingBrowser, provisionBrowser } from './browser.ts'
import { daprdTool } from './daprd.ts'
import { kafkaTool } from './kafka.ts'
import type { Provisioned, ProvisionOptions } from './options.ts'
import { java, missingTools, type Tool } from './tools.ts'

/** A build of daprd takes minutes; whoever waits for another's must not give up first. */
const lockTimeoutMs = 45 * 60 * 1000

/**
 * Makes sure daprd, Kafka and Java are there (and the browser that tests drive, if asked for). Fast when they are.
 * @throws {StackError} `tools-missing` naming everything the machine lacks, before any long step; `provision-failed`
 */
export async function provision(options: ProvisionOptions & { browser?: boolean }): Promise<void> {
  const tools = [daprdTool(), kafkaTool()]
  await requireTools([java, ...needsOf(tools)], options.browser ? missingBrowser() : [])
  await provisionTools(tools, options)
  if (options.browser) await provisionBrowser(options)
}

/**
 * Makes sure the cache holds these.
 * @throws {StackError} as `provision` does
 */
export async function provisionTools(tools: Provisioned[], options: ProvisionOptions): Promise<void> {
  const absent = tools.filter((tool) => !existsSync(tool.folder))
  await requireTools(needsOf(absent))
  await allOrNothing(absent, options)
}

/** What making those of the tools takes that the cache does not hold. */
export function needsOf(tools: Provisioned[]): Tool[] {
  return tools.filter((tool) => !existsSync(tool.folder)).flatMap((tool) => tool.needs)
}

/** @throws {StackError} `tools-missing` naming every tool that is missing or too old, and what else is `missing` */
export async function requireTools(tools: Tool[], missing: string[] = []): Promise<void> {
  const lines = [...(await missingTools([...new Set(tools)])), ...missing]
  if (lines.length === 0) return
  throw new StackError('tools-missing', lines.join('\n'), { nextStep: 'install what is missing, then run this again' })
}

/** In parallel. When one fails the other is stopped, so that the failure is told at once; the next run goes on from there. */
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
