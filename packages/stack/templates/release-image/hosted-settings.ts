import { X509Certificate } from 'node:crypto'

type Variables = Record<string, string | undefined>

/** Returns a line for each missing or invalid environment variable of a hosted stream and a hosted store. */
export function hostedProblems(variables: Variables): string[] {
  return [brokerProblems, certificateProblems, keyProblems, storeProblems].flatMap((problemsOf) =>
    problemsOf(variables),
  )
}

function brokerProblems({ Stream__Brokers: brokers }: Variables): string[] {
  const name = 'Stream__Brokers'
  if (!brokers) return [`${name}: is missing; set this variable`]
  const isList = brokers.split(',').every((broker) => /^[^\s:/]+:\d+$/.test(broker))
  return isList ? [] : [`${name}: must be host:port, with commas between several`]
}

function certificateProblems({ Stream__CaCert: certificate }: Variables): string[] {
  if (!certificate) return []
  try {
    new X509Certificate(certificate)
    return []
  } catch {
    return ['Stream__CaCert: must be a PEM certificate, its line breaks included']
  }
}

/** Other applications may write to a hosted stream, so services with a store need keys for signatures. */
function keyProblems({ Trust__SigningKeys: keys, State__Store: store }: Variables): string[] {
  return keys || store === ''
    ? []
    : ['Trust__SigningKeys: is missing; set this variable to the same value for all services (openssl rand -base64 32)']
}

function storeProblems({ State__ConnectionString: uri, State__Store: store }: Variables): string[] {
  if (store === '') return []
  const name = 'State__ConnectionString'
  if (!uri) return [`${name}: is missing; set this variable`]
  if (!/^mongodb(\+srv)?:\/\/[^/]+/.test(uri)) return [`${name}: must be a MongoDB URI (mongodb:// or mongodb+srv://)`]
  // With mongodb+srv://, the DNS record of the host names the replica set.
  const lacksSet = uri.startsWith('mongodb://') && !/[?&]replicaSet=[^&]/.test(uri)
  return lacksSet ? [`${name}: needs replicaSet= (MongoDB has transactions only on replica sets)`] : []
}
