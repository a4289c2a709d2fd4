import { guidPattern, momentProblem } from '@orderflow/envelope'
import { authProperties } from '../../auth/auth-settings.ts'

/** The schema of a setting. Its description appears in the reference of all settings. */
interface Setting {
  type?: string
  description?: string
  /** True if several services must have the same value. services.json has this value, and a variable cannot replace it. */
  shared?: true
  [keyword: string]: unknown
}

export type Section = {
  type: 'object'
  properties: Record<string, Setting>
  required: string[]
  additionalProperties: false
  if?: object
  then?: object
}

/** Returns the JSON Schema of an object. All properties are required, and unknown properties are refused, to find mistyped settings. */
export function section(properties: Section['properties']): Section {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

export const formats = { moment: (text: string) => text === '' || momentProblem(text) === undefined }

const text = (description: string): Setting => ({ type: 'string', description })
const required = (description: string): Setting => ({ type: 'string', minLength: 1, description })
const pattern = (regex: string, description: string): Setting => ({ type: 'string', pattern: regex, description })
const port = (description: string): Setting => ({ type: 'integer', minimum: 1, maximum: 65535, description })
const count = (description: string): Setting => ({ type: 'integer', minimum: 0, description })
const limit = (sender: string) =>
  count(
    `The requests that the public listener accepts from ${sender} in a minute. 0: no limit. On loopback, limits are off.`,
  )
const page = (description: string) => pattern('^(https?://\\S+)?$', description)

/** The schema also has settings that only the sidecar uses, because with a wrong value, the sidecar would stop and not explain the reason. */
const stream: Section = {
  ...section({
    PubSub: pattern(
      '^[\\w.-]+(,[\\w.-]+)*$',
      'The components for publishing, separated by commas. After a failure, the service uses the next one.',
    ),
    Brokers: text('The addresses of Kafka brokers, separated by commas.'),
    AuthType: { enum: ['none', 'password'], description: 'Whether Kafka requires a user and a password (SASL).' },
    SaslMechanism: { enum: ['PLAINTEXT', 'SHA-256', 'SHA-512'], description: 'The SASL mechanism.' },
    SaslUsername: text('The Kafka user of this service.'),
    SaslPassword: text('The password of the Kafka user.'),
    DisableTls: { type: 'boolean', description: 'True for SASL without TLS.' },
    CaCert: text('The CA certificate of the brokers in PEM. Empty: the authorities that the system trusts.'),
    SessionTimeout: pattern(
      '^[1-9]\\d*s$',
      'The time in seconds after which other sidecars get the partitions of a killed sidecar, such as 3s.',
    ),
  }),
  if: { properties: { AuthType: { const: 'password' } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: {
    properties: { SaslUsername: { type: 'string', minLength: 1 }, SaslPassword: { type: 'string', minLength: 1 } },
  },
}

/** The pattern of signing keys allows only characters that need no escaping. A random key of 32 characters has at least 192 bits. */
const trust = section({
  File: required('The file with the rights of outside applications, relative to the folder of the service.'),
  Publishers: required('The generated file with the events of each service, relative to the folder of the service.'),
  SigningKeys: pattern(
    '^([\\w+/=-]{32,}(,[\\w+/=-]{32,})*)?$',
    'The keys that sign events, separated by commas. The first key signs. Empty: events have no signature.',
  ),
  SignedSince: {
    type: 'string',
    format: 'moment',
    description: 'The time since which events need a signature, in ISO 8601 with an offset. Empty: always.',
  },
})

/** The sections that every service has. */
export const baseSections = {
  App: section({
    Id: pattern(guidPattern, 'The AppId of this service in its events. It never changes.'),
    Name: required('The name of this service. It is the AppName in its events, and the name of its consumer group.'),
  }),
  Web: section({
    Host: required('The host name or address of the public listener.'),
    Hosts: pattern(
      '^([\\w.-]+(, *[\\w.-]*)*)?$',
      'Further host names that requests may use, separated by commas. Host names are checked only if callers need no token or key.',
    ),
    HttpPort: port('The public port for HTTP.'),
    HttpsPort: port('The public port for HTTPS. It is open if CertificateFile is set.'),
    CertificateFile: text('The file with the certificate for HTTPS, in PEM.'),
    KeyFile: text('The file with the private key of the certificate, in PEM.'),
    Proxies: count('The number of trusted proxies in front of the service. It uses their X-Forwarded headers.'),
  }),
  Auth: section(authProperties),
  Limits: section({
    AddressPerMinute: limit('an address (IPv6: from its /64)'),
    CallerPerMinute: limit('a caller'),
    TenantPerMinute: limit('a tenant'),
  }),
  AppChannel: section({
    Host: required('The host name or address of the listener for the sidecar.'),
    Port: port('The port for the sidecar.'),
    Token: required('The token that the sidecar sends to the service.'),
  }),
  Metrics: section({
    Host: required(
      'The host name or address of the listener for metrics. Only this machine or a private network should reach it.',
    ),
    Port: port('The port for metrics.'),
  }),
  DryRun: section({
    Token: pattern('^([\\w-]{32,})?$', 'The token with which event-monitor requests dry runs. Empty: no dry runs.'),
  }),
  Sidecar: section({
    Host: required('The host name or address of the sidecar.'),
    HttpPort: port("The sidecar's port for HTTP."),
    GrpcPort: port("The sidecar's port for gRPC."),
    Token: required('The token that the service sends to the sidecar.'),
  }),
  Stream: stream,
  State: section({
    Store: text("The sidecar's component for documents. Empty: the service has no store."),
    ConnectionString: text(
      'The URI of MongoDB or PostgreSQL, or the path of the SQLite file. Only the sidecar uses it.',
    ),
  }),
  Trust: trust,
  Log: section({
    Level: {
      enum: ['debug', 'info', 'warn', 'error', 'silent'],
      description: 'The lowest level of log lines to write.',
    },
  }),
  Telemetry: section({
    TracePage: page('The address of the page of traces, to which the pages of the service link. Empty: no link.'),
    MonitorPage: page('The address of event-monitor, to which the page of operations links. Empty: no link.'),
  }),
}

/**
 * Settings that a second variable can set: Dapr's variables for the tokens, and the variable of hosting platforms for the port. Our own variable has
 * priority, because the environment of a shell may contain an old PORT.
 */
export const otherNames: Record<string, string> = {
  AppChannel__Token: 'APP_API_TOKEN',
  Sidecar__Token: 'DAPR_API_TOKEN',
  Web__HttpPort: 'PORT',
}
