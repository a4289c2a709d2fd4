import type { Command, CommandGroups, Given, Option } from './command-line.ts'
import { CliError } from './lib/error.ts'
import { isInstalled, programFile } from './lib/paths.ts'

// Loads commands on demand, because loading all of them would take a second.
const ofStack = () => import('./commands/stack.ts')
const ofOperator = () => import('./commands/operate.ts')
const ofPreparation = () => import('./commands/prepare.ts')

const stackOptions: Record<string, Option> = {
  stack: {
    value: 'docker|local|kubernetes',
    summary: 'run in containers, as processes or in a cluster (default: the variable STACK)',
  },
  store: { value: 'STORE', summary: 'mongodb, postgresql or sqlite, see docs/stores.md (default: the variable STORE)' },
  brokers: {
    value: '1|3',
    summary: 'the number of Kafka brokers, see docs/operations.md (default: the variable BROKERS)',
  },
}

/** Returns the environment variables. Options of the command replace the variables `STACK`, `STORE` and `BROKERS`. */
function stackSettings({ text }: Given): NodeJS.ProcessEnv {
  const [STACK, STORE, BROKERS] = [text('stack'), text('store'), text('brokers')]
  return { ...process.env, ...(STACK && { STACK }), ...(STORE && { STORE }), ...(BROKERS && { BROKERS }) }
}

/** Replaces this process by the program of a package, which then has the terminal and its signals. */
async function become(program: string, args: string[]): Promise<never> {
  // With `NODE_DEBUG`, Node would print requests with their tokens.
  const { NODE_DEBUG: _, ...env } = process.env
  if (!process.execve)
    throw new CliError('tools-missing', 'this command needs Linux or macOS', { nextStep: 'docs/operations.md' })
  return process.execve(process.execPath, [process.execPath, programFile(program), ...args], env)
}

/**
 * Runs a command in the cluster if the stack runs in Kubernetes, because Kafka is reachable only there. Otherwise runs it here.
 * @param inside the arguments of the command in the cluster, and the file that it reads from its standard input
 */
function nearKafka(
  run: (given: Given) => Promise<number | undefined> | Promise<void>,
  inside: (given: Given) => { args: string[]; file?: string | undefined },
): Command['run'] {
  return async (given) => {
    const { runNearKafka } = await import('./commands/inside.ts')
    return (await runNearKafka({ ...inside(given), signal: given.signal })) ?? (await run(given)) ?? 0
  }
}

/** Runs a command with the Kafka that `Stream__Brokers` names, otherwise as `nearKafka` does. */
function nearNamedKafka(...[run, inside]: Parameters<typeof nearKafka>): Command['run'] {
  return (given) => (process.env.Stream__Brokers ? run(given) : nearKafka(run, inside)(given))
}

const app: Record<string, Option> = {
  app: { value: 'NAME', summary: 'the app on the hosting platform (default: the variable APP)' },
}
const dryRun: Record<string, Option> = {
  'dry-run': { summary: 'show the changes without making them (default: the variable DRY_RUN)' },
}
const tokenNote =
  'Set the environment variable ACCESS_TOKEN to a token of the platform’s API (docs/release.md). There is no option for the token.'

function ofRelease(name: string, summary: string, options: Record<string, Option>): Record<string, Command> {
  const parameters = name === 'release-topics' ? '' : 'NAME'
  const more = options.app ? `NAME is the name of a service without -service. ${tokenNote}` : ''
  const run = ({ all }: Given) => become('#release', [name, ...all])
  return { [name]: { summary, parameters, options, more, run } }
}

const maintenance = 'Maintain this project'

const upgrades = 'Move to newer packages'

const inPods = 'Run in a pod of the cluster'

/** Groups that the help leaves out: maintenance in an application, upgrades in the repository of the packages, and steps of other commands. */
export const hiddenGroups: readonly string[] = [isInstalled ? maintenance : upgrades, inPods]

export const commandGroups: CommandGroups = {
  'Run it': {
    up: {
      summary: 'Start everything, in containers if Docker is available. Can be repeated to start missing parts',
      options: {
        ...stackOptions,
        rebuild: { summary: 'rebuild all stores from the log before services start (docs/operations.md)' },
      },
      run: async (given) =>
        (await ofStack()).up(stackSettings(given), { rebuild: given.flag('rebuild') ?? false, signal: given.signal() }),
    },
    demo: {
      summary: 'Send the demo request of services.json and show its events. API_KEY is the caller’s key',
      run: nearKafka(
        async () => (await import('./commands/demo.ts')).demo(process.env),
        () => ({ args: ['demo'] }),
      ),
    },
    observe: {
      summary: 'Start everything with traces, metrics and alerts (docs/observability.md)',
      options: stackOptions,
      run: async (given) => (await ofStack()).observe(stackSettings(given), given.signal()),
    },
    status: {
      summary: 'Show the state and uptime of each part; fail if a part does not run',
      run: async () => (await ofStack()).status(),
    },
    logs: {
      summary: 'Follow all logs, or those of one service or part',
      parameters: '[SERVICE]',
      options: { follow: { summary: 'follow even without a terminal (--follow=0 shows only the end)' } },
      run: async ({ args: [name], flag, signal }) => (await ofStack()).logs(name, flag('follow'), signal()),
    },
    down: { summary: 'Stop everything; data stays', run: async () => (await ofStack()).down() },
    clean: {
      summary: 'Remove the data and logs of a stopped stack',
      run: async () => (await ofStack()).clean(),
    },
  },
  'Prepare this machine': {
    doctor: {
      summary: 'Show the tools that this machine lacks for each task, and how to install them',
      options: { install: { summary: 'install the tools of tests, as root on Debian or Ubuntu' } },
      run: async ({ flag, signal }) => (await ofPreparation()).doctor({ install: flag('install') ?? false }, signal()),
    },
    provision: {
      summary: 'Build or download daprd, Kafka and tools of tests into the cache',
      parameters: '[TOOL...]',
      more: 'TOOL is browser, testssl, jaeger or prometheus.',
      run: async ({ args, signal }) => {
        const { provision, testToolsOf } = await import('./provision/provision.ts')
        const { timed } = await import('./lib/terminal.ts')
        await provision({ onProgress: timed(), tests: testToolsOf(args), signal: signal() })
      },
    },
    engine: {
      summary: 'Install and start a Docker engine and Docker Compose if they are missing',
      run: async ({ signal }) => (await ofPreparation()).prepareEngine(signal()),
    },
    images: {
      summary: 'Pull or build all images, including those of the services',
      run: async ({ signal }) => (await ofPreparation()).prepareImages(signal()),
    },
  },
  'Operate it': {
    'dead-letters': {
      summary: 'List failed events, show one, or replay them to their topic',
      parameters: '[list|show|replay] [ID|GROUP|all]',
      options: {
        values: { summary: 'also show personal data' },
        'dry-run': { summary: 'replay: show the effects without publishing' },
        edit: { summary: 'replay one event after editing it in $EDITOR' },
        file: { value: 'FILE', summary: 'replay one event with the content of this file' },
        attempt: {
          value: 'POSITION',
          summary: 'replay only if the newest failed attempt is the record at this position',
        },
        contradict: { summary: 'replay an edit even if it contradicts the data of a service' },
      },
      run: async (given) => (await ofOperator()).deadLetters(given),
    },
    rebuild: {
      summary: 'Rebuild a service’s store from the log',
      parameters: 'SERVICE',
      options: {
        topic: { value: 'TOPIC', summary: 'read only this topic' },
        from: { value: 'TIME', summary: 'read from this time on, such as 2026-11-21T10:00Z' },
        to: { value: 'TIME', summary: 'read up to this time' },
      },
      run: async ({ args: [service], text }) => {
        const range = ['topic', 'from', 'to'].flatMap((name) => {
          const value = text(name)
          return value === undefined ? [] : [`--${name}`, value]
        })
        return (await ofOperator()).rebuild(service, range)
      },
    },
    backup: {
      summary: 'Save the log in a folder, or add what is new (docs/operations.md)',
      parameters: 'DIR',
      run: async ({ args: [folder] }) => (await import('./commands/backup.ts')).backup(folder, process.env),
    },
    restore: {
      summary: 'Write the log of a backup to an empty Kafka, and start everything with rebuilt stores',
      parameters: 'DIR',
      options: stackOptions,
      run: async (given) =>
        (await import('./commands/backup.ts')).restore(given.args[0], stackSettings(given), given.signal()),
    },
    restart: {
      summary: 'Restart a service, one replica after the other',
      parameters: 'SERVICE',
      run: async ({ args: [service], signal }) => (await ofStack()).restart(service, signal()),
    },
    scale: {
      summary: 'Run N replicas of a service, in containers or in Kubernetes',
      parameters: 'SERVICE N',
      run: async ({ args: [service = '', count = ''], signal }) => (await ofStack()).scale(service, count, signal()),
    },
    partitions: {
      summary: 'Add missing partitions to topics while everything runs; services.json declares the number',
      run: nearNamedKafka(
        async () => (await import('./commands/topics.ts')).partitions(process.env),
        () => ({ args: ['partitions'] }),
      ),
    },
    databases: {
      summary: 'Create the databases, users and functions of services on your PostgreSQL server',
      more: 'The environment variable State__ConnectionString has the URI of the server (docs/stores.md).',
      options: { rotate: { summary: 'replace the passwords of existing users' } },
      run: async ({ flag }) =>
        (await import('./commands/databases.ts')).databases(process.env, { rotate: flag('rotate') ?? false }),
    },
    region: {
      summary: 'Let MirrorMaker copy to this Kafka (passive), or let services use the copy (active)',
      parameters: 'passive|active',
      options: {
        minutes: { value: 'N', summary: 'active: handle the events of the last N minutes again (default: 10)' },
      },
      run: nearNamedKafka(
        async ({ args: [role], text }) =>
          (await import('./commands/topics.ts')).region(role, text('minutes'), process.env),
        ({ all }) => ({ args: ['region', ...all] }),
      ),
    },
    retention: {
      summary: 'Show or set how long Kafka keeps events and dead letters',
      options: { days: { value: 'N|forever', summary: 'set the time to this number of days' } },
      run: nearNamedKafka(
        async ({ text }) => (await import('./commands/topics.ts')).retention(text('days'), process.env),
        ({ all }) => ({ args: ['retention', ...all] }),
      ),
    },
    'topic-setting': {
      summary: 'Correct a setting of a topic that a warning names',
      parameters: 'TOPIC NAME=VALUE',
      run: nearNamedKafka(
        async ({ args: [topic, setting] }) =>
          (await import('./commands/topics.ts')).topicSetting(topic, setting, process.env),
        ({ all }) => ({ args: ['topic-setting', ...all] }),
      ),
    },
  },
  'Publish, and let others call or publish': {
    publish: {
      summary: 'Publish an event as an outside publisher',
      parameters: 'FILE',
      more: 'If FILE is -, the command reads its standard input.',
      options: {
        key: { value: 'KEY', summary: 'the key of the record (default: the topic’s key in the event)' },
        raw: { summary: 'skip validation, for example to see a dead letter' },
      },
      run: nearKafka(
        async ({ args: [file], text, flag }) =>
          (await import('./commands/publish.ts')).publish({ file, key: text('key'), raw: flag('raw') ?? false }),
        ({ args: [file], text, flag }) => {
          const key = text('key')
          const options = [...(key ? ['--key', key] : []), ...(flag('raw') ? ['--raw'] : [])]
          return { args: ['publish', ...(file ? ['-'] : []), ...options], file }
        },
      ),
    },
    envelope: {
      summary: 'Validate, create, publish, follow or compare envelopes',
      parameters: 'COMMAND',
      hasOwnHelp: true,
      run: ({ all }) => become('@orderflow/envelope/command', all.length > 0 ? all : ['--help']),
    },
    publisher: {
      summary: 'Create the Kafka user of an outside publisher, or list all',
      parameters: '[NAME]',
      options: {
        rotate: { summary: 'set a new password' },
        remove: { summary: 'remove the user' },
      },
      run: nearKafka(
        async ({ args: [name], flag }) =>
          (await import('./commands/publisher.ts')).publisher(name, {
            rotate: flag('rotate') ?? false,
            remove: flag('remove') ?? false,
          }),
        ({ all }) => ({ args: ['publisher', ...all] }),
      ),
    },
    acls: {
      summary: 'Print the commands that grant each service its rights at your own Kafka',
      parameters: '[NAME]',
      more: 'NAME is the name of an outside publisher, for example legacy. With NAME, only the rights of this publisher are printed.',
      run: async ({ args: [name] }) => (await import('./commands/publisher.ts')).acls(name),
    },
    'api-key': {
      summary: 'List API keys, create one, or revoke one',
      parameters: '[list|create|revoke] [NAME|PREFIX]',
      options: {
        scopes: {
          value: 'SCOPES',
          summary: 'create: the permissions of the key, such as "events:read events:operate"',
        },
        tenant: { value: 'TENANT', summary: 'create: the tenant whose data the key can access' },
      },
      run: async ({ args: [action, name], text }) =>
        (await import('./commands/api-key.ts')).apiKey({
          action,
          name,
          scopes: text('scopes'),
          tenant: text('tenant'),
        }),
    },
  },
  'Work on it': {
    dev: {
      summary: 'Restart services when their code changes, and show logs and type errors (docs/develop.md)',
      parameters: '[SERVICE...]',
      options: {
        ...stackOptions,
        inspect: { summary: 'let a debugger attach to each of these services' },
      },
      run: async (given) =>
        (await import('./commands/dev.ts')).dev(stackSettings(given), given.args, {
          inspected: given.flag('inspect') ?? false,
          signal: given.signal(),
        }),
    },
    'new-service': {
      summary: 'Create a working service to start from (docs/new-service.md)',
      parameters: 'NAME',
      options: {
        event: {
          value: 'NAME',
          summary: 'the event that the service reacts to (default: the first event of `answers` in services.json)',
        },
      },
      run: async ({ args: [name = ''], text, signal }) =>
        (await import('./new-service/new-service.ts')).newService(name, text('event'), signal()),
    },
    'check-demo': {
      summary: 'Check that a service accepts the request of make demo, as make check does',
      run: async () => (await import('./commands/check-demo.ts')).checkDemo(),
    },
    generate: {
      summary: 'Generate files from services.json and the schemas of events',
      run: async () => (await import('./generate/files.ts')).generate(),
    },
  },
  [upgrades]: {
    upgrade: {
      summary: 'Move this application to newer packages, on a branch (docs/upgrade.md)',
      parameters: '[FOLDER|VERSION]',
      more: 'FOLDER has the archives of the new packages. VERSION is for an application whose packages come from a registry (default: the newest).',
      run: async ({ args: [asked] }) => (await import('./upgrade/upgrade.ts')).upgrade(asked),
    },
  },
  'Release to a hosting platform (docs/release.md)': {
    ...ofRelease('export', 'Write config-vars.json and the steps of a manual release', {}),
    ...ofRelease('release', 'Release a service to an app', { ...app, ...dryRun }),
    ...ofRelease('rollback', 'Return an app to its state before the last release', { ...app, ...dryRun }),
    ...ofRelease('ps', 'List the processes of an app', app),
    ...ofRelease('start', 'Start an app', app),
    ...ofRelease('stop', 'Stop an app', app),
    ...ofRelease('open', 'Show the address of an app, and open it on a desktop', app),
    ...ofRelease('app-logs', 'Follow the log of an app', app),
    ...ofRelease('release-topics', 'Create the topics on the hosted Kafka of the services', {
      service: {
        value: 'SERVICE',
        summary: 'the service whose settings name the hosted Kafka (default: the variable SERVICE)',
      },
    }),
  },
  [inPods]: {
    'await-consumers': {
      summary: 'Wait until all services consume',
      run: async () => (await import('./commands/inside.ts')).awaitConsumers(),
    },
    'stream-troubles': {
      summary: 'Print a line for each wrong setting of Kafka',
      options: { users: { summary: 'also check the users that the setup job creates' } },
      run: async ({ flag }) => (await import('./commands/inside.ts')).printStreamTroubles(flag('users') ?? false),
    },
  },
  [maintenance]: {
    lint: {
      summary: 'Lint shell scripts, Dockerfiles and workflows, as make check does',
      run: async ({ signal }) => (await import('./commands/lint.ts')).lint(process.env, signal()),
    },
    hashes: {
      summary: 'Write packages/cli/hashes.json after a change of versions',
      run: async ({ signal }) => (await import('./commands/hashes.ts')).writeHashes(signal()),
    },
    sbom: {
      summary: 'Write an SBOM (CycloneDX) and the licenses of the images to dist/',
      run: async () => (await import('./commands/sbom.ts')).writeSbom(),
    },
  },
}
