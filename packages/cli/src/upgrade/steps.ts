import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A change of a version to which applications must adapt. */
export interface Step {
  /** The version that introduced the change. */
  version: string
  /** The subject of the commit: a verb in the base form and one change. */
  title: string
  /** The reason for the change, in one sentence: the body of the commit. */
  why: string
  /** The effect on stored data, topics or `.env`, and the way back. Without this field, all of them stay the same. */
  outsideGit?: { effect: string; undo: string }
  /** Refuses the upgrade before it changes a file. Throws an UpgradeError whose next step is the command to run first. */
  check?: (application: string) => void
  /**
   * Changes files of the application. The new packages are installed, and the generated files are still those of the old version. Changes nothing if the
   * application already has the change, for example because the sources between two releases created it.
   */
  change?: Change
}

type Change = (application: string) => void | Promise<void>

/** Returns a text that `replace` inserts unchanged. */
const escaped = (text: string): string => text.replaceAll('$', '$$$$')

const devTarget = `dev: ## Restart services at each change of their code, with logs and type errors: [SERVICE='...'] [INSPECT=1 for a debugger]
\t@exec $(orderflow) dev $\${SERVICE-} $\${INSPECT:+"--inspect=$$INSPECT"}
`

const mistakes = `# The file exists after the first command, which installs the packages.
include $(wildcard node_modules/@orderflow/cli/mistakes.mk)
`

const lineEndings = `# Scripts and Dockerfiles need LF, also if core.autocrlf is true.
* text=auto eol=lf
`

const sidecarRights = `  # The only APIs that a sidecar offers to its service; the health checks are always offered. Dapr offers all APIs of a protocol that has no
  # entry here (docs/security.md).
  api:
    allowed:
      - { name: state, version: v1, protocol: grpc }
      - { name: publish, version: v1alpha1, protocol: grpc }
      - { name: bindings, version: v1, protocol: grpc }
      - { name: metadata, version: v1, protocol: grpc }
      - { name: metadata, version: v1, protocol: http }
      - { name: shutdown, version: v1, protocol: http }
  # Components still read their credentials from this store, but no caller of the sidecar can.
  secrets:
    scopes:
      - storeName: env-secrets
        defaultAccess: deny
  # Refuses the calls of other sidecars, which need no token, and reach the service with the sidecar's token.
  accessControl:
    defaultAction: deny
`

/**
 * All steps, in the order of their versions. Their code may import only modules of Node (see `main.ts`). A codemod loads other packages from the
 * application, with `createRequire`.
 */
const stepsOf: Record<string, readonly Omit<Step, 'version'>[]> = {
  '0.3.0': [
    {
      title: 'Mark the saving component of PostgreSQL as generated',
      why: 'Sidecars save through functions that make up adds to its PostgreSQL. For your own server, run ./orderflow databases before the new version starts.',
      change: markAsGenerated('components/postgresql/statestore-save.yaml'),
    },
    {
      title: 'Limit sidecars to the APIs that services use',
      why: 'Sidecars return no secrets, and each has its own user in the store. In containers, make up creates the users; for your own servers, see docs/stores.md.',
      change: edit('components/configuration.yaml', /^ {2}accessControl:/m, /^spec:\n/m, `$&${sidecarRights}`),
    },
    {
      title: 'Prepare the generated Helm chart',
      why: 'Kubernetes requires a field of the sidecars’ configuration, and the linter leaves out the chart.',
      change: inTurn(
        markAsGenerated('chart/**'),
        edit('biome.json', /"!chart"/, /^( *)"!components",$/m, '$1"!chart",\n$&'),
        edit(
          'components/configuration.yaml',
          /^ {2}metrics:\n(?:(?: {3,}.*)?\n)*? {4}enabled:/m,
          /^ {2}metrics:\n/m,
          '$&    # Kubernetes requires this field.\n    enabled: true\n',
        ),
      ),
    },
    {
      title: 'Mark the Compose file of three brokers as generated',
      why: 'make generate writes this file for make up STACK=docker BROKERS=3.',
      change: markAsGenerated('docker-compose.brokers.yml'),
    },
    {
      title: 'Add make dev',
      why: 'It restarts services when their code changes. make generate writes files that let editors attach a debugger.',
      change: inTurn(
        markAsGenerated('.run/*.xml'),
        edit('Makefile', /^dev:/m, /^\.PHONY: (check .*)\n/m, `.PHONY: dev $1\n\n${escaped(devTarget)}`),
      ),
    },
    {
      title: 'Report unknown targets and variables of make',
      why: 'GNU make ignores a misspelt variable, such as STAK=local.',
      change: edit(
        'Makefile',
        /@orderflow\/cli\/mistakes\.mk/,
        /^\.DEFAULT_GOAL := help\n/m,
        `${escaped(mistakes)}\n$&`,
      ),
    },
    {
      title: 'Add scripts of npm',
      why: 'npm test runs all unit tests, and npm test -- TEXT the tests whose path contains a text.',
      change: (application) => {
        const file = join(application, 'package.json')
        const manifest = JSON.parse(readFileSync(file, 'utf8')) as { scripts?: Record<string, string> }
        const program = 'node_modules/@orderflow/test-kit/src/mocha/run-tests.js'
        const added = {
          dev: './orderflow dev',
          test: `./orderflow node ${program}`,
          'test:watch': `./orderflow node --watch ${program} --no-parallel`,
          lint: 'make --no-print-directory check',
        }
        if (Object.keys(added).every((name) => manifest.scripts?.[name] !== undefined)) return
        const scripts = { ...added, ...manifest.scripts }
        writeFileSync(file, `${JSON.stringify({ ...manifest, scripts }, null, 2)}\n`)
      },
    },
    {
      title: 'Limit the time of tests by the kind of their file',
      why: 'A test or hook of *.unit.test.ts has 30 seconds, one of *.int.test.ts 120 and others 300; this.timeout(ms) sets another limit.',
      change: edit('.mocharc.json', /"ui":/, /^( *)"timeout": 300000,$/m, '$1"ui": "@orderflow/test-kit/time-limits",'),
    },
    {
      title: 'Name the version of events in the API',
      why: 'A new version of an event would change the API of a service, and refuse requests of older clients.',
      change: (application) => {
        const events = newestEvents(join(application, 'envelope-schema/schemas/events'))
        rewrite(application, '*-service/src/**/*.ts', (text) => withVersions(text, events))
      },
    },
    {
      title: 'Let make check test the demo',
      why: 'It finds a request in services.json that no longer fits the schema of its service.',
      change: edit(
        'Makefile',
        /\$\(orderflow\) check-demo/,
        /^\t@\$\(orderflow\) envelope compat/m,
        '\t@$$(orderflow) check-demo\n$&',
      ),
    },
    {
      title: 'Let make up rebuild the stores',
      why: 'make up REBUILD=1 starts services after their stores are rebuilt, which is the only safe way after the loss of a store.',
      change: edit(
        'Makefile',
        /--rebuild=/,
        /^(up: ## .*)\n\t@\$\(orderflow\) up$/m,
        '$1 [REBUILD=1 first rebuilds the stores]\n\t@$$(orderflow) up $$$${REBUILD:+"--rebuild=$$$$REBUILD"}',
      ),
    },
    {
      title: 'Keep line feeds in all files',
      why: 'With core.autocrlf=true, Git would write scripts and Dockerfiles that do not run.',
      change: (application) => {
        const file = join(application, '.gitattributes')
        const text = readIfFile(file)
        // A later line may set another value for its files, such as binary, so this line comes first.
        if (!/^\*\s.*\beol=/m.test(text)) writeFileSync(file, lineEndings + text)
      },
    },
    {
      title: 'Mark the schemas of passed deadlines and answered calls as generated',
      why: 'make generate writes them if a service of services.json has deadlines or calls.',
      change: inTurn(
        markAsGenerated('envelope-schema/schemas/events/DeadlinePassed.1.json'),
        markAsGenerated('envelope-schema/schemas/events/CallAnswered.1.json'),
      ),
    },
    {
      title: 'Import the rules of money from the service kit',
      why: 'They are rules of an API, which applications that only publish or validate events do not need.',
      change: (application) => {
        rewrite(application, '*-service/{src,test}/**/*.ts', withMoneyOfKit)
        // Sorts the imports. `make check` reports other problems later.
        const formatter = join(application, 'node_modules/.bin/biome')
        if (existsSync(formatter)) spawnSync(process.execPath, [formatter, 'check', '--write'], { cwd: application })
      },
    },
  ],
}

export const steps: readonly Step[] = Object.entries(stepsOf).flatMap(([version, all]) =>
  all.map((step) => ({ version, ...step })),
)

/** Returns the newest version of each event, with its fields, by name. */
function newestEvents(folder: string): Map<string, { version: number; fields: object }> {
  const events = new Map<string, { version: number; fields: object }>()
  for (const file of globSync('*.json', { cwd: folder })) {
    const [name = '', version] = file.split('.')
    if (Number(version) < (events.get(name)?.version ?? 0)) continue
    const { properties = {} } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { properties?: object }
    events.set(name, { version: Number(version), fields: properties })
  }
  return events
}

/** Adds the version to the event in `contractFields('Name'` and in a field of an API, such as `['Name', 'Field'`. */
const withVersions = (text: string, events: ReturnType<typeof newestEvents>) =>
  text.replaceAll(
    /(contractFields\(\s*|\[\s*)'(\w+)'(?=,\s*'(\w+)'|)/g,
    (found, before: string, name: string, field) => {
      const event = events.get(name)
      const isField = event && (before.startsWith('contractFields') || Object.hasOwn(event.fields, field))
      return isField ? `${before}'${name}@${event.version}'` : found
    },
  )

const moneyNames = /\b(?:type )?(?:amountFlaw|Currency|currencyCodes|currencyOf)\b,?\s*/g

/** Imports the rules of money from the kit, and all other names from the contract, as before. */
function withMoneyOfKit(text: string): string {
  return text.replaceAll(
    /^import (type )?\{([^}]*)\} from '(@[\w-]+\/envelope-schema)'$/gm,
    (whole, type = '', names: string) => {
      const found = [...names.matchAll(moneyNames)].map(([name]) => name.replace(/,?\s*$/, ''))
      if (found.length === 0) return whole
      const others = names.replaceAll(moneyNames, '')
      const rest = others.trim() === '' ? '' : `${whole.replace(names, () => others)}\n`
      return `${rest}import ${type}{ ${found.join(', ')} } from '@orderflow/service-kit'`
    },
  )
}

const readIfFile = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '')

/** Changes the files that match a pattern. */
function rewrite(application: string, pattern: string, change: (text: string) => string): void {
  for (const file of globSync(pattern, { cwd: application })) {
    const path = join(application, file)
    writeFileSync(path, change(readFileSync(path, 'utf8')))
  }
}

function inTurn(...changes: Change[]): Change {
  return async (application) => {
    for (const change of changes) await change(application)
  }
}

/** Adds a line to .gitattributes. */
function markAsGenerated(pattern: string): Change {
  return (application) => {
    const file = join(application, '.gitattributes')
    const text = readIfFile(file)
    const line = `${pattern} linguist-generated`
    if (text.split('\n').includes(line)) return
    writeFileSync(file, `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${line}\n`)
  }
}

/** Replaces the first match of `from` in a file, unless the file is missing or already has the change. */
function edit(path: string, already: RegExp, from: RegExp, to: string): Change {
  return (application) => {
    const text = readIfFile(join(application, path))
    if (text !== '' && !already.test(text)) writeFileSync(join(application, path), text.replace(from, to))
  }
}

export const stepsAfter = (version: string, all: readonly Step[]): Step[] =>
  all.filter((step) => isNewer(step.version, version))

/** Compares versions such as 0.10.0, which have no suffix. */
export const isNewer = (version: string, other: string): boolean =>
  version.localeCompare(other, 'en', { numeric: true }) > 0
