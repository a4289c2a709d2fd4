import { X509Certificate } from 'node:crypto'
import type { ConfigVars } from './config-vars.ts'
import type { Service } from './services.ts'

/** What the service asks for besides, and the image sets itself. */
const setByTheImage = { APP_API_TOKEN: 'set', DAPR_API_TOKEN: 'set', PORT: '1' }

/** A line for each config var that is missing or wrong: the service's own rules, and those of a hosted stream and store. */
export function hostedProblems(service: Service, vars: ConfigVars): string[] {
  return [...ownProblems(service, vars), ...brokerProblems(vars), ...certificateProblems(vars), ...storeProblems(vars)]
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

function brokerProblems({ Stream__Brokers: brokers = '' }: ConfigVars): string[] {
  const name = 'Stream__Brokers'
  if (!brokers) return [`${name}: is missing; set this variable`]
  const wrong = brokers.split(',').find((broker) => !/^[^\s:/]+:\d+$/.test(broker))
  if (wrong !== undefined) return [`${name}: must be host:port, with commas between several`]
  const isLocal = brokers.split(',').some((broker) => /^(localhost|127\.)/.test(broker))
  return isLocal ? [`${name}: is this machine’s, which the platform cannot reach`] : []
}

function certificateProblems({ Stream__CaCert: certificate = '' }: ConfigVars): string[] {
  if (!certificate) return []
  try {
    new X509Certificate(certificate)
    return []
  } catch {
    return ['Stream__CaCert: must be a PEM certificate, its line breaks included']
  }
}

function storeProblems({ State__ConnectionString: uri = '' }: ConfigVars): string[] {
  const name = 'State__ConnectionString'
  if (!uri) return [`${name}: is missing; set this variable`]
  if (!/^mongodb(\+srv)?:\/\/[^/]+/.test(uri))
    return [`${name}: must be a MongoDB URI, mongodb://... or mongodb+srv://...`]
  // A +srv name has it in its DNS record.
  const lacksSet = uri.startsWith('mongodb://') && !/[?&]replicaSet=[^&]/.test(uri)
  return lacksSet ? [`${name}: needs replicaSet= (transactions exist on replica sets only)`] : []
}
