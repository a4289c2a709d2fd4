import { services } from '../lib/services.ts'

// Who there is at a Kafka that asks: each service by its own name, and these.

/** The broker itself, on its own loopback, by which the others are made. */
export const brokerUser = 'broker'
/** Whoever administers the stack and looks after its dead letters: he may do everything. */
export const operatorUser = 'operator'
/** The outside application that `./orderflow publish` is. */
export const publishUser = 'publisher'
/** The user of the exporter (packages/cli/src/observe/exporter.ts), which reports how far each group is behind. It reads what services consume. */
export const exporterUser = 'exporter'

/** Users that the stack makes, and gives the rights that follow from services.json. */
export const stackUsers: readonly string[] = [
  operatorUser,
  publishUser,
  exporterUser,
  ...services.map(({ name }) => name),
]

/** The ending that services' names have, and no application's outside may: what has it and is no service (any more) has no rights. */
const ofServices = '-service'

const serviceNames = new Set(services.map(({ name }) => name))

/** Whether a user is a service's, also of one with the ending that services.json had once. */
export const isServiceUser = (user: string): boolean => user.endsWith(ofServices) || serviceNames.has(user)

const form = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/
const maxLength = 40

/** What keeps a name from being that of an outside application; undefined when nothing does. */
export function nameProblem(name: string): string | undefined {
  if (!form.test(name) || name.length > maxLength) {
    return `a name is at most ${maxLength} lower-case letters and digits, in words with hyphens between them`
  }
  if (isServiceUser(name)) return `names that end in ${ofServices}, or stand in services.json, are those of services`
  return [brokerUser, ...stackUsers].includes(name) ? 'the stack has a user of that name itself' : undefined
}
