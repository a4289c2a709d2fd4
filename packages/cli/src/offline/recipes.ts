import { cpSync, existsSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import {
  baseImage,
  daprdImage,
  jaegerImage,
  kafkaImage,
  mongoImage,
  nodeImage,
  postgresqlImage,
  prometheusImage,
  reaperImage,
} from '../lib/images.ts'
import { daprdFile, kafkaJarsFolder, repository, versions } from '../lib/paths.ts'
import { runTool } from '../lib/run-tool.ts'
import { daprdTool } from '../provision/daprd.ts'
import { checkHash, hashOf } from '../provision/hashes.ts'
import { jaegerFile, jaegerTool } from '../provision/jaeger.ts'
import { kafkaTool } from '../provision/kafka.ts'
import type { Provisioned, ProvisionOptions } from '../provision/options.ts'
import { prometheusFolder, prometheusTool } from '../provision/prometheus.ts'
import { npm, type Tool } from '../provision/tools.ts'

/** How an image of the same name and contract is built where the real one cannot be pulled. */
export interface Recipe {
  /** Its files: a Dockerfile, or a script `build NAME LABEL...`, and what these use. */
  folder: string
  /** The images that its Dockerfile starts from. */
  from: string[]
  /** Arguments of its Dockerfile. */
  args: Record<string, string>
  /** What else decides what is in the image. */
  content: string[]
  /** What it is when it is not the real thing: shown wherever it is used. */
  standIn?: string
  needs: Tool[]
  /** What it takes from the cache. */
  parts: Provisioned[]
  /** Puts what the Dockerfile copies beside it. */
  addParts?: (context: string, options: ProvisionOptions) => Promise<void> | void
}

const recipesFolder = join(repository, 'packages/cli/src/offline/images')
const read = (...path: string[]) => readFileSync(join(...path), 'utf8')
const plain = { args: {}, content: [], needs: [], parts: [] }

/** What this machine trusts, which the base image does then too; nothing where an image cannot be built anyway. */
function trusted(): string {
  const file = '/etc/ssl/certs/ca-certificates.crt'
  return existsSync(file) ? read(file) : ''
}

const folder = (name: string) => join(recipesFolder, name)

/** Of what the cache has of a tool, a file or a folder, which its Dockerfile copies by the tool's name. */
function recipeOfTool(name: string, version: string, tool: Provisioned, cached: string): Recipe {
  const addParts = (context: string) => cpSync(cached, join(context, name), { recursive: true })
  return { ...plain, folder: folder(name), from: [baseImage], content: [version], parts: [tool], addParts }
}

/** @throws {Error} for an image that has no recipe */
export function recipeOf(image: string): Recipe {
  switch (image) {
    case baseImage:
      return { ...plain, folder: folder('base'), from: [], content: [trusted()] }
    case nodeImage: {
      const content = [versions.node, versions.npm]
      return { ...plain, folder: folder('node'), from: [baseImage], content, needs: [npm], addParts: addNode }
    }
    case kafkaImage:
      return {
        ...plain,
        folder: folder('kafka'),
        from: [baseImage],
        content: [versions.kafka, read(repository, 'packages/cli/kafka/pom.xml')],
        parts: [kafkaTool()],
        addParts: (context) => cpSync(kafkaJarsFolder(), join(context, 'libs'), { recursive: true }),
      }
    case daprdImage:
      return recipeOfTool('daprd', versions.dapr, daprdTool(), daprdFile())
    case mongoImage: {
      const [, version] = /^SecantusDB==(\S+)/m.exec(read(folder('mongo'), 'requirements.txt')) ?? []
      const args = { NODE_IMAGE: nodeImage }
      return { ...plain, folder: folder('mongo'), from: [baseImage, nodeImage], args, standIn: `SecantusDB ${version}` }
    }
    case postgresqlImage:
      return { ...plain, folder: folder('postgres'), from: [baseImage], standIn: 'PostgreSQL 15 of Debian 12' }
    case jaegerImage:
      return recipeOfTool('jaeger', versions.jaeger, jaegerTool(), jaegerFile())
    case prometheusImage:
      return recipeOfTool('prometheus', versions.prometheus, prometheusTool(), prometheusFolder())
    case reaperImage: {
      const standIn = "a reaper with ryuk's protocol"
      return { ...plain, folder: folder('ryuk'), from: [nodeImage], args: { NODE_IMAGE: nodeImage }, standIn }
    }
    default:
      throw new Error(`no recipe for ${image}`)
  }
}

async function addNode(context: string, { signal }: ProvisionOptions): Promise<void> {
  const packages = { node: `node-linux-${process.arch}@${versions.node}`, npm: `npm@${versions.npm}` }
  for (const [name, spec] of Object.entries(packages)) {
    const file = await runTool('npm', ['pack', '--silent', spec], { cwd: context, signal })
    checkHash(spec, hashOf(join(context, file.trim())))
    renameSync(join(context, file.trim()), join(context, `${name}.tgz`))
  }
}
