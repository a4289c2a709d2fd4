import { extname } from 'node:path'
import type { Command, CommandGroups } from './command-line.ts'

/** Loads a command from its file. Each file is loaded on demand, because loading all of them would take a second. */
const from = (folder: string) => async (name: string) => {
  const file = `./commands/${folder}/${name}${extname(import.meta.filename)}`
  return ((await import(file)) as { command: Command }).command
}

/** All commands, by group. The file `commands/FOLDER/NAME.ts` has the options and the work of a command. */
export const commandGroups: CommandGroups = {
  'Run it': {
    load: from('run'),
    summaries: {
      up: 'Start everything, in containers if Docker is available. Can be repeated to start missing parts',
      demo: 'Send the demo request of services.json and show its events. API_KEY is the caller’s key',
      observe: 'Start everything with traces, metrics and alerts (docs/observability.md)',
      status: 'Show the state and uptime of each part; fail if a part does not run',
      logs: 'Follow all logs, or those of one service or part',
      down: 'Stop everything; data stays',
      clean: 'Remove the data and logs of a stopped stack',
    },
  },
  'Prepare this machine': {
    load: from('prepare'),
    summaries: {
      doctor: 'Show the tools that this machine lacks for each task, and how to install them',
      provision: 'Build or download daprd, Kafka and tools of tests into the cache',
      engine: 'Install and start a Docker engine and Docker Compose if they are missing',
      images: 'Pull or build all images, including those of the services',
    },
  },
  'Operate it': {
    load: from('operate'),
    summaries: {
      'dead-letters': 'List failed events, show one, or replay them to their topic',
      rebuild: 'Rebuild a service’s store from the log',
      deadlines: 'Give the stored entities of a service the deadlines of its present release',
      backup: 'Save the log in a folder, or add what is new (docs/operations.md)',
      restore: 'Write the log of a backup to an empty Kafka, and start everything with rebuilt stores',
      restart: 'Restart a service, one replica after the other',
      scale: 'Run N replicas of a service, in containers or in Kubernetes',
      partitions: 'Add missing partitions to topics while everything runs; services.json declares the number',
      databases: 'Create the databases, users and functions of services on your PostgreSQL server',
      region: 'Let MirrorMaker copy to this Kafka (passive), or let services use the copy (active)',
      retention: 'Show or set how long Kafka keeps events and dead letters',
      'topic-setting': 'Correct a setting of a topic that a warning names',
    },
  },
  'Publish, and let others call or publish': {
    load: from('publish'),
    summaries: {
      publish: 'Publish an event as an outside publisher',
      envelope: 'Validate, create, publish, follow or compare envelopes',
      publisher: 'Create the Kafka user of an outside publisher, or list all',
      acls: 'Print the commands that grant each service its rights at your own Kafka',
      'api-key': 'List API keys, create one, or revoke one',
    },
  },
  'Work on it': {
    load: from('work'),
    summaries: {
      dev: 'Restart services when their code changes, and show logs and type errors (docs/develop.md)',
      'new-service': 'Create a working service to start from (docs/new-service.md)',
      'check-demo': 'Check that a service accepts the request of make demo, as make check does',
      generate: 'Generate files from services.json and the schemas of events',
      upgrade: 'Move an application to newer packages, on a branch (docs/upgrade.md)',
    },
  },
  'Release to a hosting platform (docs/release.md)': {
    load: async (name) => (await import('./commands/platform.ts')).platformCommand(name),
    summaries: {
      export: 'Write config-vars.json and the steps of a manual release',
      release: 'Release a service to an app',
      rollback: 'Return an app to its state before the last release',
      ps: 'List the processes of an app',
      start: 'Start an app',
      stop: 'Stop an app',
      open: 'Show the address of an app, and open it on a desktop',
      'app-logs': 'Follow the log of an app',
      'release-topics': 'Create the topics on the hosted Kafka of the services',
    },
  },
}
