import { copyFileSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CliError, cacheFolder, runTool, versions } from '@orderflow/stack/base'
import {
  buildTime,
  go,
  type Provisioned,
  type ProvisionOptions,
  provisionTools,
  withHeartbeat,
} from '@orderflow/stack/internals'

// No package registry has the programs of a cluster, so they are built from Go modules. Each program has a folder in the cache. A new version
// rebuilds only its own program.

const folder = join(import.meta.dirname, '..')
const readJson = <Content>(file: string) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Content

interface ClusterVersions {
  kubernetes: string
  coredns: string
  keda: string
  helm: string
  networkPolicies: string
  gatewayApi: string
  prometheusOperator: string
  strimzi: string
}

/** Dapr has the same version as in the other runners. */
export const clusterVersions = { ...readJson<ClusterVersions>('versions.json'), dapr: versions.dapr }

interface Program {
  name: string
  /** The path of the Go module. A program without a module uses only Go's standard library. */
  module?: string
  version: string
  /** The main packages of the module. None if only its files are needed. Otherwise the program is `programs/NAME`, which imports the module. */
  packages?: string[]
  /** Go variables that contain the version. */
  variables?: string[]
  flags?: string[]
  /** The names of the command that select a part of the program. */
  parts?: string[]
  /** A folder of the module that the cluster also needs. */
  files?: string
  processorMinutes: number
}

const { kubernetes, coredns, keda, helm, networkPolicies, gatewayApi, prometheusOperator, dapr } = clusterVersions
/** Leaves out debug information, which saves a seventh of the processor time. */
const withoutDebug = ['-gcflags=all=-dwarf=false']

/** The parts of Kubernetes and etcd, which are one program. */
const kubernetesParts = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubelet',
  'kube-proxy',
  'kubectl',
] as const

export type KubernetesPart = (typeof kubernetesParts)[number]

export const daprPrograms = ['operator', 'injector', 'sentry', 'placement', 'scheduler'] as const

const programs = {
  // The first process of the cluster's namespaces and of each pod.
  pause: { name: 'pause', version: '1', processorMinutes: 0.1 },
  hyperkube: {
    name: 'hyperkube',
    module: 'k8s.io/kubernetes',
    version: kubernetes,
    variables: ['k8s.io/component-base/version.gitVersion=v', 'k8s.io/client-go/pkg/version.gitVersion=v'],
    flags: withoutDebug,
    parts: [...kubernetesParts],
    processorMinutes: 9,
  },
  coredns: {
    name: 'coredns',
    module: 'github.com/coredns/coredns',
    version: coredns,
    flags: withoutDebug,
    processorMinutes: 2,
  },
  // Has the same flags as daprd. Go then compiles the packages of both only once.
  dapr: {
    name: 'dapr-control',
    module: 'github.com/dapr/dapr',
    version: dapr,
    variables: ['github.com/dapr/dapr/pkg/buildinfo.version='],
    files: 'charts/dapr',
    processorMinutes: 3,
  },
  keda: {
    name: 'keda',
    module: 'github.com/kedacore/keda/v2',
    version: keda,
    packages: ['cmd/operator', 'cmd/adapter'],
    flags: withoutDebug,
    files: 'config',
    processorMinutes: 9,
  },
  helm: {
    name: 'helm',
    module: 'helm.sh/helm/v3',
    version: helm,
    packages: ['cmd/helm'],
    variables: ['helm.sh/helm/v3/internal/version.version=v'],
    flags: withoutDebug,
    processorMinutes: 2,
  },
  networkPolicies: {
    name: 'kube-network-policies',
    module: 'sigs.k8s.io/kube-network-policies',
    version: networkPolicies,
    packages: ['cmd'],
    flags: withoutDebug,
    processorMinutes: 1,
  },
  gatewayApi: {
    name: 'gateway-api',
    module: 'sigs.k8s.io/gateway-api',
    version: gatewayApi,
    packages: [],
    files: 'config/crd/standard',
    processorMinutes: 0.1,
  },
  prometheusOperator: {
    name: 'prometheus-operator',
    module: 'github.com/prometheus-operator/prometheus-operator',
    version: prometheusOperator,
    packages: [],
    files: 'example/prometheus-operator-crd',
    processorMinutes: 0.1,
  },
} satisfies Record<string, Program>

export type ProgramName = keyof typeof programs

const folderOf = ({ name, version }: Program) => join(cacheFolder(), `${name}-${version}`)

/** Returns a file of a built program, such as `kubectl` of `hyperkube`. */
export const programFile = (name: ProgramName, file: string = programs[name].name): string =>
  join(folderOf(programs[name]), file)

/** Returns the folders of `kubectl` and `helm`, for PATH. */
export const clientFolders = (): string[] =>
  [programFile('hyperkube', 'kubectl'), programFile('helm')].map((file) => dirname(file))

/** The pinned hashes of modules, by `path@version`. The `h1:` hash of a module also covers its go.sum. */
const hashesFile = join(folder, 'hashes.json')

const moduleOf = ({ module, version }: Program) => `${module}@v${version}`

/** Builds missing programs one after another, because each build uses all cores. */
export async function ensurePrograms(names: readonly ProgramName[], options: ProvisionOptions): Promise<void> {
  for (const name of names) await provisionTools([provisioned(programs[name])], options)
}

function provisioned(program: Program): Provisioned {
  const title = `${program.name} ${program.version}`
  return {
    folder: folderOf(program),
    about:
      program.packages?.length === 0
        ? `${title}: downloading`
        : `${title}: building from source: ${buildTime(program.processorMinutes)}`,
    needs: [go],
    make: (target, options) => build(program, target, options),
  }
}

/** Lets Go download the Go version that a module requires. */
const environment = { GOTOOLCHAIN: 'auto', GOWORK: 'off', GOFLAGS: '-buildvcs=false -mod=mod', CGO_ENABLED: '0' }

async function build(program: Program, target: string, { onProgress, signal }: ProvisionOptions): Promise<void> {
  const { name, version, variables = [], flags = [], parts = [], packages, files } = program
  const source = join(target, 'source')
  mkdirSync(source)
  if (!packages) cpSync(join(folder, 'programs', name), source, { recursive: true })
  const module = await writeModule(program, source, signal)
  const values = variables.map((variable) => `-X ${variable}${version}`)
  const args = ['build', '-v', '-trimpath', '-ldflags', ['-s -w', ...values].join(' '), ...flags, '-o', `${target}/`]
  const mains = packages?.map((path) => `${program.module}/${path}`) ?? ['.']
  let compiled = 0
  const onLine = (line: string) => {
    if (!line.startsWith('go: ')) compiled += 1
  }
  if (mains.length > 0) {
    await withHeartbeat(name, { onProgress, detail: () => `${compiled} packages compiled` }, () =>
      runTool('go', [...args, ...mains], { cwd: source, env: environment, onLine, signal }),
    )
  }
  for (const part of parts) symlinkSync(name, join(target, part))
  if (files && module) {
    cpSync(join(module, files), join(target, files), { recursive: true })
    // Go's copies of the sources are read-only.
    await runTool('chmod', ['-R', 'u+w', join(target, files)], { cwd: target, signal })
  }
  await runTool('rm', ['-r', source], { cwd: target, signal })
}

interface ModuleFile {
  Go: string
  Godebug?: { Key: string; Value: string }[]
  Require?: { Path: string; Version: string }[]
  Exclude?: { Path: string; Version: string }[]
  Replace?: { Old: { Path: string; Version?: string }; New: { Path: string; Version?: string } }[]
}

/**
 * Writes the go.mod of a program, with the requirements of its published module. Go ignores replacements in the go.mod of a dependency. Returns the
 * folder of the module's sources.
 * @throws {CliError} `wrong-hash` before any code of the module is compiled
 */
async function writeModule(program: Program, source: string, signal?: AbortSignal): Promise<string | undefined> {
  const { name, module, version } = program
  const run = (args: string[]) => runTool('go', args, { cwd: source, env: environment, signal })
  if (!module) {
    writeFileSync(join(source, 'go.mod'), `module local/${name}\ngo 1.26\n`)
    return undefined
  }
  const { Dir, GoMod, Sum } = await download(moduleOf(program), source, signal)
  checkHash(moduleOf(program), Sum)
  const published = JSON.parse(await run(['mod', 'edit', '-json', GoMod])) as ModuleFile
  const lines = [
    `module local/${name}`,
    `go ${published.Go}`,
    ...(published.Godebug ?? []).map(({ Key, Value }) => `godebug ${Key}=${Value}`),
    `require ${module} v${version}`,
    ...(published.Require ?? []).map(({ Path, Version }) => `require ${Path} ${Version}`),
    ...(published.Exclude ?? []).map(({ Path, Version }) => `exclude ${Path} ${Version}`),
    ...(published.Replace ?? []).map(({ Old, New }) => `replace ${textOf(Old)} => ${textOf(replacementOf(Old, New))}`),
  ]
  writeFileSync(join(source, 'go.mod'), `${lines.join('\n')}\n`)
  copyFileSync(join(Dir, 'go.sum'), join(source, 'go.sum'))
  await run(['mod', 'edit', '-fmt'])
  return Dir

  // Kubernetes publishes the folders of ./staging as modules of version 0.
  function replacementOf(old: { Path: string }, replacement: { Path: string; Version?: string }) {
    if (!replacement.Path.startsWith('./staging/')) return replacement
    return { Path: old.Path, Version: `v${version.replace(/^1/, '0')}` }
  }
}

const textOf = ({ Path, Version = '' }: { Path: string; Version?: string }) => `${Path} ${Version}`.trim()

async function download(module: string, cwd: string, signal?: AbortSignal) {
  const printed = await runTool('go', ['mod', 'download', '-json', module], { cwd, env: environment, signal })
  return JSON.parse(printed) as { Dir: string; GoMod: string; Sum: string }
}

/** @throws {CliError} `wrong-hash` if hashes.json has another hash or none */
export function checkHash(module: string, found: string): void {
  const pinned = readHashes()[module]
  if (pinned === found) return
  throw new CliError(
    'wrong-hash',
    `the hash of ${module} is ${found}, but ${hashesFile} has ${pinned ?? 'no hash of it'}`,
    {
      nextStep: pinned
        ? 'do not use this module, and find out why it changed'
        : 'if you changed the version, run make -C tools hashes',
    },
  )
}

export const readHashes = () => readJson<Record<string, string>>('hashes.json')

/** Returns the modules of all programs, as `path@version`. */
export const pinnedModules = (): string[] =>
  Object.values<Program>(programs)
    .filter(({ module }) => module)
    .map(moduleOf)

/** Writes the current hashes of all modules, and of other downloads. */
export async function writeHashes(others: Record<string, string>): Promise<void> {
  const hashes = { ...others }
  for (const module of pinnedModules()) hashes[module] = (await download(module, folder)).Sum
  writeFileSync(hashesFile, `${JSON.stringify(Object.fromEntries(Object.entries(hashes).sort()), null, 2)}\n`)
}
