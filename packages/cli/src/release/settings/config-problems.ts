import { hostedProblems } from '../../../release-image/hosted-settings.ts'
import type { ConfigVars } from './config-vars.ts'

/** A line for each config var that is missing or wrong: the service's own rules, and those of a hosted stream and store. */
export async function configProblems(serviceFolder: string, vars: ConfigVars): Promise<string[]> {
  // Only who asks this needs what a service is made of, which takes a while to load.
  const { serviceProblems } = await import('../../../release-image/service-settings.ts')
  // The image is given a PORT by the platform, and listens to all who reach it.
  const own = await serviceProblems(serviceFolder, { ...vars, PORT: '1', Web__Host: '0.0.0.0' })
  return [...own, ...localProblems(vars), ...hostedProblems(vars)]
}

function localProblems({ Stream__Brokers: brokers = '' }: ConfigVars): string[] {
  const isLocal = brokers.split(',').some((broker) => /^(localhost|127\.)/.test(broker))
  return isLocal ? ['Stream__Brokers: is this machine’s, which the platform cannot reach'] : []
}
