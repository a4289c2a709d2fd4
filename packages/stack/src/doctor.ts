import { existsSync, statfsSync } from 'node:fs'
import { totalmem } from 'node:os'
import { dirname } from 'node:path'
import { table } from '@orderflow/service-kit/setup'
import { portUses, takenPorts } from './application/free-ports.ts'
import { cacheFolder, isInstalled } from './application/paths.ts'
import { entryOf, localPorts, services } from './application/services.ts'
import { paint } from './base/terminal.ts'
import { imageNotes } from './containers/images.ts'
import { readProject } from './containers/project.ts'
import { jaegerTool, prometheusTool } from './provision/programs.ts'
import { needsOf, toolsOfProcesses, toolsOfTests } from './provision/provision.ts'
import {
  aptGetInstall,
  canAptGet,
  compose,
  curl,
  engine,
  type FoundTool,
  findTools,
  git,
  howToBring,
  minimumOf,
  npm,
  pip,
  postgresql,
  type Tool,
} from './provision/tools.ts'
import { runningRunner } from './runners.ts'

interface Use {
  title: string
  tools: Tool[]
}

/** The required gigabytes: `disk` for downloads and builds of `make up` and `make test`, `memory` for building daprd. */
const needed = { disk: 8, memory: 4 }

/** The state of this machine, as lines for the terminal. */
interface Diagnosis {
  lines: string[]
  /** True if `make up` can run, in containers or as processes. */
  canRun: boolean
}

/** Finds the tools that each task needs. With `install` it first installs the tools that tests use, except Docker and Go. */
export async function doctor(asked: { install: boolean; signal: AbortSignal }): Promise<Diagnosis> {
  if (asked.install) await install(asked.signal)
  const inContainers = { title: 'make up, in containers', tools: [npm, engine, compose] }
  const asProcesses = { title: 'make up, as processes', tools: [npm, ...toolsOfProcesses()] }
  const withPostgresql = {
    title: 'make up, as processes, with STORE=postgresql',
    tools: [...asProcesses.tools, postgresql],
  }
  const observed = {
    title: 'make observe, as processes',
    tools: [...new Set(needsOf([jaegerTool(), prometheusTool()]))],
  }
  const tests = { title: 'make test', tools: forTests() }
  const release = { title: 'make release-NAME', tools: [npm, engine] }
  const uses = [inContainers, asProcesses, withPostgresql, observed, tests, release]
  const found = await findTools([...new Set(uses.flatMap(({ tools }) => tools))])
  const missing = new Set(found.filter(({ isNewEnough }) => !isNewEnough).map(({ tool }) => tool))

  const [header = '', ...rows] = table([['TOOL', 'NEEDED', 'FOUND'], ...found.map(cellsOf)])
  const images = lacking(inContainers, missing).length === 0 ? await imageNotes(readProject()?.store) : []
  const lines = [
    paint('bold', header),
    ...rows.map((row, index) => (found[index]?.isNewEnough ? row : paint('red', row))),
    '',
    ...uses.flatMap((use) => describeUse(use, missing)),
    '',
    room(),
    ...[...images, ...(await portNotes())].map((note) => paint('yellow', note)),
  ]
  return { lines, canRun: [inContainers, asProcesses].some((use) => lacking(use, missing).length === 0) }
}

/** The tests of an application need only what its stack needs, and Git. */
const forTests = () => [
  ...new Set([
    npm,
    ...toolsOfProcesses(),
    ...(isInstalled ? [git] : [...toolsOfTests(['browser', 'jaeger', 'prometheus']), postgresql, git, curl, pip]),
  ]),
]

async function install(signal: AbortSignal): Promise<void> {
  const found = await findTools(forTests())
  const packages = found.flatMap(({ tool, isNewEnough }) => (isNewEnough ? [] : (tool.apt ?? [])))
  if (packages.length > 0 && canAptGet()) await aptGetInstall(packages, signal)
}

/** A Docker engine may be installed, but not running. */
const absence = (tool: Tool) => (tool === engine ? 'does not answer' : 'not found')
const cellsOf = ({ tool, version }: FoundTool) => [tool.label, minimumOf(tool), version ?? absence(tool)]

const lacking = ({ tools }: Use, missing: Set<Tool>) => tools.filter((tool) => missing.has(tool))

export function describeUse(use: Use, missing: Set<Tool>): string[] {
  const lacks = lacking(use, missing)
  if (lacks.length === 0) return [`${use.title}: ${paint('green', 'ready')}`]
  const labels = lacks.map(({ label }) => label).join(', ')
  return [`${use.title}: ${paint('red', `lacks ${labels}`)}`, ...howToBring(lacks).map((line) => `    ${line}`)]
}

/** Returns a line for each port that the stopped stack needs and another program uses. */
async function portNotes(): Promise<string[]> {
  if (await runningRunner()) return []
  // Another offset than that of the last start may be under consideration.
  const ports = localPorts(process.env.PORT_OFFSET ? process.env : undefined)
  const own = [
    { port: ports.kafka, use: 'kafka' },
    { port: ports.kafkaController, use: 'kafka controller' },
    { port: ports.postgresql, use: 'postgresql, with STORE=postgresql' },
    { port: 27017, use: 'mongo, in containers' },
    { port: ports.otlp, use: 'jaeger, of make observe' },
    { port: ports.jaeger, use: 'the page of jaeger' },
    { port: ports.prometheus, use: 'prometheus, of make observe' },
    { port: ports.exporter, use: 'exporter, of make observe' },
  ]
  const ofServices = services.flatMap(({ name }) => portUses({ name, ports: { ...entryOf(ports.services, name) } }))
  return await takenPorts([...own, ...ofServices])
}

/** Shows the free disk space and the memory, because the error of a failed build may not mention them. */
function room(): string {
  const present = (folder: string): string => (existsSync(folder) ? folder : present(dirname(folder)))
  const { bavail, bsize } = statfsSync(present(cacheFolder()))
  return describeSpace((bavail * bsize) / 1e9, totalmem() / 1e9)
}

export function describeSpace(disk: number, memory: number): string {
  const told = (have: number, need: number) => {
    const text = `${have.toFixed(0)} GB`
    return have < need ? paint('red', `${text}, but up to ${need} may be needed`) : text
  }
  return `free disk: ${told(disk, needed.disk)}; memory: ${told(memory, needed.memory)}`
}
