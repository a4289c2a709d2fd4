import type { Command, Option } from '../command-line.ts'
import { become } from './become.ts'

const app: Record<string, Option> = {
  app: { value: 'NAME', summary: 'the app on the hosting platform (default: the variable APP)' },
}
const withDryRun: Record<string, Option> = {
  ...app,
  'dry-run': { summary: 'show the changes without making them (default: the variable DRY_RUN)' },
}
const service: Record<string, Option> = {
  service: {
    value: 'SERVICE',
    summary: 'the service whose settings name the hosted Kafka (default: the variable SERVICE)',
  },
}
const optionsOf: Record<string, Record<string, Option>> = {
  export: {},
  release: withDryRun,
  rollback: withDryRun,
  'release-topics': service,
}

const note =
  'NAME is the name of a service without -service. Set the environment variable ACCESS_TOKEN to a token of the platform’s API (docs/release.md). There is no option for the token.'

/** Returns a command of one program, which masks secrets in all output. An option replaces a variable, such as `--app` the variable `APP`. */
export function platformCommand(name: string): Command {
  const options = optionsOf[name] ?? app
  return {
    parameters: name === 'release-topics' ? '' : 'NAME',
    options,
    ...(options.app && { more: note }),
    run({ args, text, flag }) {
      const given = Object.keys(options).map((option) => {
        const value = option === 'dry-run' ? flagText(flag(option)) : text(option)
        return [option.toUpperCase().replace('-', '_'), value]
      })
      const variables = Object.fromEntries(given.filter(([, value]) => value !== undefined))
      return become('#release', [name, ...args], variables)
    },
  }
}

const flagText = (flag: boolean | undefined) => (flag === undefined ? undefined : flag ? '1' : '0')
