import { isDeepStrictEqual } from 'node:util'
import { packageFile } from '../application/paths.ts'
import { defaultPorts, entryOf, services } from '../application/services.ts'
import { attempt } from '../base/error.ts'
import { jsonWithShortLists } from '../base/layout.ts'

const allServices = 'All services'
const prefix = 'Attach to '

/** The configurations that attach a debugger to the services of `make dev INSPECT=1`, by name of the service. */
const attached = services.map(({ name }) => ({
  title: `${prefix}${name}`,
  file: `.run/attach-to-${name}.run.xml`,
  port: entryOf(defaultPorts.inspectors, name),
}))

interface Named {
  name: string
  [field: string]: unknown
}

interface LaunchFile {
  version: string
  configurations: Named[]
  compounds?: Named[]
}

/**
 * Returns .vscode/launch.json with a configuration for each service, and a compound of them. Keeps all other configurations. Returns a file with
 * comments unchanged, because writing it would remove the comments.
 */
export function launchFile(text: string | undefined): string {
  const current = text === undefined ? newLaunchFile() : attempt((): LaunchFile => JSON.parse(text))
  if (!current) return text as string
  const { configurations, compounds = [], ...others } = current
  const isOwn = ({ name }: Named) => name === allServices || name.startsWith(prefix)
  const launch = {
    ...others,
    configurations: [
      ...configurations.filter((one) => !isOwn(one)),
      ...attached.map(({ title, port }) => ({
        name: title,
        type: 'node',
        request: 'attach',
        address: '127.0.0.1',
        port,
        // Attaches again after each restart of the service.
        restart: true,
        skipFiles: ['<node_internals>/**'],
      })),
    ],
    compounds: [
      { name: allServices, configurations: attached.map(({ title }) => title), stopAll: true },
      ...compounds.filter((one) => !isOwn(one)),
    ],
  }
  if (text !== undefined && isDeepStrictEqual(launch, current)) return text
  return `${jsonWithShortLists(launch)}\n`
}

function newLaunchFile(): LaunchFile {
  const runTests = {
    type: 'node',
    request: 'launch',
    runtimeExecutable: `\${workspaceFolder}/${packageFile('cli/node')}`,
    program: `\${workspaceFolder}/node_modules/mocha/bin/mocha.js`,
  }
  return {
    version: '0.2.0',
    configurations: [
      { name: 'Tests of this file', ...runTests, args: [`\${file}`], console: 'integratedTerminal' },
      {
        name: 'The test whose title is selected',
        ...runTests,
        args: [`\${file}`, '--fgrep', `\${selectedText}`],
        console: 'integratedTerminal',
      },
    ],
  }
}

/** Returns the run configurations of JetBrains editors by path. Undefined for a file of a removed service. */
export function runConfigurations(present: readonly string[]): Map<string, string | undefined> {
  const former = present.filter((path) => path.startsWith('.run/attach-to-'))
  return new Map<string, string | undefined>([
    ...former.map((path) => [path, undefined] as const),
    ...attached.map(({ title, file, port }) => [file, attachXml(title, port)] as const),
    ['.run/all-services.run.xml', compoundXml()],
  ])
}

const component = (lines: readonly string[]) =>
  ['<component name="ProjectRunConfigurationManager">', ...lines.map((line) => `  ${line}`), '</component>', ''].join(
    '\n',
  )

const attachType = 'ChromiumRemoteDebugType'

const attachXml = (title: string, port: number) =>
  component([
    `<configuration default="false" name="${title}" type="${attachType}" factoryName="Chromium Remote" host="127.0.0.1" port="${port}" restartOnDisconnect="true">`,
    '  <method v="2" />',
    '</configuration>',
  ])

const compoundXml = () =>
  component([
    `<configuration default="false" name="${allServices}" type="CompoundRunConfigurationType">`,
    ...attached.map(({ title }) => `  <toRun name="${title}" type="${attachType}" />`),
    '  <method v="2" />',
    '</configuration>',
  ])
