import { hostedProblems } from '../../image/hosted-settings.ts'
import type { ConfigVars } from './config-vars.ts'
import type { Service } from './services.ts'

/** What the image sets itself. */
const setByTheImage = { APP_API_TOKEN: 'set', DAPR_API_TOKEN: 'set', PORT: '1' }

/** A line for each config var that is missing or wrong: the service's own rules, and those of a hosted stream and store. */
export function configProblems(service: Service, vars: ConfigVars): string[] {
  return [...ownProblems(service, vars), ...localProblems(vars), ...hostedProblems(vars)]
}

function ownProblems(service: Service, vars: ConfigVars): string[] {
  try {
    service.readSettings({ ...vars, ...setByTheImage })
    return []
  } catch (error) {
    if (error instanceof Error && 'problems' in error) return error.problems as string[]
    throw error
  }
}

function localProblems({ Stream__Brokers: brokers = '' }: ConfigVars): string[] {
  const isLocal = brokers.split(',').some((broker) => /^(localhost|127\.)/.test(broker))
  return isLocal ? ['Stream__Brokers: is this machine’s, which the platform cannot reach'] : []
}
