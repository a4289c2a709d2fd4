import { type Section, section } from './sections.ts'

/** Returns the section of the settings of a target. @param what the target, for descriptions, such as `the payment provider` */
export const targetSection = (what: string): Section =>
  section({
    Address: {
      type: 'string',
      pattern: '^(https?://\\S+)?$',
      description: `The address of ${what}. It must be HTTPS, unless AllowedAddresses has its network.`,
    },
    Secret: { type: 'string', description: `The secret that ${what} requires as a bearer token. Empty: none.` },
    TimeoutSeconds: {
      type: 'integer',
      minimum: 1,
      maximum: 25,
      description: `The time in which ${what} must answer. Afterwards, the outcome is unknown.`,
    },
    Together: {
      type: 'integer',
      minimum: 1,
      description: `The largest number of requests of a process to ${what} at the same time.`,
    },
    KeyHours: {
      type: 'number',
      minimum: 0,
      description: `The hours for which ${what} remembers an Idempotency-Key. Later tries look up first, or ask a person.`,
    },
    Lookup: { type: 'boolean', description: `Whether ${what} reports what became of a key (GET).` },
    AllowedAddresses: {
      type: 'string',
      description: `The private networks in which ${what} may be, such as 10.1.0.0/16, separated by commas.`,
    },
  })
